! SPDX-FileCopyrightText: 2026 The Stripewise developers
! SPDX-License-Identifier: BSD-3-Clause
!
! writer FILE [N]: every rank writes 65536 integers with MPI_FILE_WRITE_AT_ALL; with N, to
! FILE1 to FILEN in turn.
! -DWITH_F08: use mpi_f08, -DWITH_MODULE: use mpi, otherwise mpif.h.
program writer
#if defined(WITH_F08)
  use mpi_f08
#elif defined(WITH_MODULE)
  use mpi
#endif
  implicit none
#if !defined(WITH_F08) && !defined(WITH_MODULE)
  include 'mpif.h'
#endif
  integer, parameter :: n = 65536
#if defined(WITH_F08)
  type(MPI_File) :: file
#else
  integer :: file
#endif
  integer :: rank, code, i, number, n_files
  integer :: values(n)
  integer(kind=MPI_OFFSET_KIND) :: offset
  character(len=1024) :: path, text

  call MPI_INIT(code)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, code)
  call get_command_argument(1, path)
  values = [(rank * n + i, i = 1, n)]
  n_files = 0
  call get_command_argument(2, text)
  if (len_trim(text) > 0) read (text, *) n_files
  offset = int(rank, MPI_OFFSET_KIND) * n * 4
  do number = 1, max(n_files, 1)
    text = path
    if (n_files > 0) write (text, '(A, I0)') trim(path), number
    call MPI_FILE_OPEN(MPI_COMM_WORLD, trim(text), ior(MPI_MODE_CREATE, MPI_MODE_WRONLY), &
                       MPI_INFO_NULL, file, code)
    call MPI_FILE_WRITE_AT_ALL(file, offset, values, n, MPI_INTEGER, MPI_STATUS_IGNORE, code)
    call MPI_FILE_CLOSE(file, code)
  end do
  call MPI_FINALIZE(code)
end program writer
