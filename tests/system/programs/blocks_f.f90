! SPDX-FileCopyrightText: 2026 The Stripewise developers
! SPDX-License-Identifier: BSD-3-Clause
!
! blocks_f FILE: every rank writes 64 blocks of 1024 integers, interleaved with the other
! ranks', by one collective call.
program blocks_f
  use mpi
  implicit none
  integer, parameter :: block = 1024, blocks = 64
  integer :: file, view, rank, size, code, i
  integer :: values(block * blocks)
  integer(kind=MPI_OFFSET_KIND) :: displacement
  character(len=1024) :: path

  call MPI_INIT(code)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, code)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, size, code)
  call get_command_argument(1, path)
  values = [(rank * block * blocks + i, i = 1, block * blocks)]
  call MPI_FILE_OPEN(MPI_COMM_WORLD, trim(path), ior(MPI_MODE_CREATE, MPI_MODE_WRONLY), &
                     MPI_INFO_NULL, file, code)
  if (code /= MPI_SUCCESS) call MPI_ABORT(MPI_COMM_WORLD, 3, code)
  call MPI_TYPE_VECTOR(blocks, block, block * size, MPI_INTEGER, view, code)
  call MPI_TYPE_COMMIT(view, code)
  displacement = int(rank, MPI_OFFSET_KIND) * block * 4
  call MPI_FILE_SET_VIEW(file, displacement, MPI_INTEGER, view, 'native', MPI_INFO_NULL, code)
  call MPI_FILE_WRITE_ALL(file, values, block * blocks, MPI_INTEGER, MPI_STATUS_IGNORE, code)
  if (code /= MPI_SUCCESS) call MPI_ABORT(MPI_COMM_WORLD, 3, code)
  call MPI_FILE_CLOSE(file, code)
  call MPI_TYPE_FREE(view, code)
  call MPI_FINALIZE(code)
end program blocks_f
