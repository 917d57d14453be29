! SPDX-FileCopyrightText: 2026 The Stripewise developers
! SPDX-License-Identifier: BSD-3-Clause
!
! The part of NetCDF-Fortran's module `netcdf` that benchio uses, over the parallel C library:
! Debian's NetCDF-Fortran is serial.  As there, an array section is copied before the call, and
! dimensions and indices are turned around.
module netcdf
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: nf90_create, nf90_set_fill, nf90_def_dim, nf90_def_var, nf90_var_par_access, &
       nf90_put_var, nf90_close, nf90_strerror

  integer, parameter, public :: nf90_noerr = 0, nf90_netcdf4 = 4096, nf90_mpiio = 8192, &
       nf90_nofill = 256, nf90_double = 6, nf90_collective = 1

  interface
     integer(c_int) function nc_create_par_fortran(path, mode, comm, info, id) bind(c)
       import :: c_int, c_char
       character(kind=c_char), intent(in) :: path(*)
       integer(c_int), value :: mode, comm, info
       integer(c_int), intent(out) :: id
     end function nc_create_par_fortran
     integer(c_int) function nc_set_fill(id, mode, old) bind(c)
       import :: c_int
       integer(c_int), value :: id, mode
       integer(c_int), intent(out) :: old
     end function nc_set_fill
     integer(c_int) function nc_def_dim(id, name, length, dim) bind(c)
       import :: c_int, c_char, c_size_t
       integer(c_int), value :: id
       character(kind=c_char), intent(in) :: name(*)
       integer(c_size_t), value :: length
       integer(c_int), intent(out) :: dim
     end function nc_def_dim
     integer(c_int) function nc_def_var(id, name, kind, n_dims, dims, var) bind(c)
       import :: c_int, c_char
       integer(c_int), value :: id, kind, n_dims
       character(kind=c_char), intent(in) :: name(*)
       integer(c_int), intent(in) :: dims(*)
       integer(c_int), intent(out) :: var
     end function nc_def_var
     integer(c_int) function nc_var_par_access(id, var, access) bind(c)
       import :: c_int
       integer(c_int), value :: id, var, access
     end function nc_var_par_access
     integer(c_int) function nc_put_vara_double(id, var, start, count, values) bind(c)
       import :: c_int, c_size_t, c_double
       integer(c_int), value :: id, var
       integer(c_size_t), intent(in) :: start(*), count(*)
       real(c_double), intent(in) :: values(*)
     end function nc_put_vara_double
     integer(c_int) function nc_close(id) bind(c)
       import :: c_int
       integer(c_int), value :: id
     end function nc_close
  end interface

contains

  integer function nf90_create(path, cmode, ncid, comm, info)
    character(len=*), intent(in) :: path
    integer, intent(in) :: cmode, comm, info
    integer, intent(out) :: ncid
    nf90_create = nc_create_par_fortran(trim(path)//c_null_char, cmode, comm, info, ncid)
  end function nf90_create

  integer function nf90_set_fill(ncid, fillmode, old)
    integer, intent(in) :: ncid, fillmode
    integer, intent(out) :: old
    nf90_set_fill = nc_set_fill(ncid, fillmode, old)
  end function nf90_set_fill

  integer function nf90_def_dim(ncid, name, length, dimid)
    integer, intent(in) :: ncid, length
    character(len=*), intent(in) :: name
    integer, intent(out) :: dimid
    nf90_def_dim = nc_def_dim(ncid, name//c_null_char, int(length, c_size_t), dimid)
  end function nf90_def_dim

  integer function nf90_def_var(ncid, name, xtype, dimids, varid)
    integer, intent(in) :: ncid, xtype, dimids(:)
    character(len=*), intent(in) :: name
    integer, intent(out) :: varid
    integer(c_int) :: turned(size(dimids))
    turned = dimids(size(dimids):1:-1)
    nf90_def_var = nc_def_var(ncid, name//c_null_char, xtype, size(dimids), turned, varid)
  end function nf90_def_var

  integer function nf90_var_par_access(ncid, varid, access)
    integer, intent(in) :: ncid, varid, access
    nf90_var_par_access = nc_var_par_access(ncid, varid, access)
  end function nf90_var_par_access

  integer function nf90_put_var(ncid, varid, values, start, count)
    integer, intent(in) :: ncid, varid, start(:), count(:)
    real(c_double), intent(in) :: values(:, :, :)
    integer(c_size_t) :: first(size(start)), length(size(count))
    first = start(size(start):1:-1) - 1
    length = count(size(count):1:-1)
    nf90_put_var = nc_put_vara_double(ncid, varid, first, length, values)
  end function nf90_put_var

  integer function nf90_close(ncid)
    integer, intent(in) :: ncid
    nf90_close = nc_close(ncid)
  end function nf90_close

  character(len=80) function nf90_strerror(code)
    integer, intent(in) :: code
    write (nf90_strerror, '("NetCDF error ", i0)') code
  end function nf90_strerror

end module netcdf
