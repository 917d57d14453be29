! SPDX-FileCopyrightText: 2026 The Stripewise developers
! SPDX-License-Identifier: BSD-3-Clause
! pnwriter: 16 integers a rank, with the Fortran 77 and the Fortran 90 interface of PnetCDF.
program pnwriter
  use mpi
  use pnetcdf
  implicit none
  integer :: ierr, rank, n_ranks, file, dimension, one, other
  integer(kind=MPI_OFFSET_KIND) :: start(1), count(1)
  integer :: values(16), found(16), i

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, ierr)
  call check(nf90mpi_create(MPI_COMM_WORLD, "fortran.nc", NF90_CLOBBER, MPI_INFO_NULL, file))
  count(1) = 16 * n_ranks
  call check(nf90mpi_def_dim(file, "x", count(1), dimension))
  call check(nf90mpi_def_var(file, "one", NF90_INT, (/dimension/), one))
  call check(nf90mpi_def_var(file, "other", NF90_INT, (/dimension/), other))
  call check(nf90mpi_enddef(file))
  values = (/(rank * 16 + i, i = 1, 16)/)
  start(1) = rank * 16 + 1
  count(1) = 16
  call check(nfmpi_put_vara_int_all(file, one, start, count, values))
  call check(nf90mpi_put_var_all(file, other, values, start=start, count=count))
  call check(nf90mpi_get_var_all(file, one, found, start=start, count=count))
  if (any(found /= values)) call MPI_Abort(MPI_COMM_WORLD, 2, ierr)
  call check(nf90mpi_close(file))
  call MPI_Finalize(ierr)

contains

  subroutine check(status)
    integer, intent(in) :: status
    integer :: code
    if (status /= NF90_NOERR) then
      print *, trim(nf90mpi_strerror(status))
      call MPI_Abort(MPI_COMM_WORLD, 1, code)
    end if
  end subroutine check
end program pnwriter
