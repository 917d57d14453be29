! SPDX-FileCopyrightText: 2026 The Stripewise developers
! SPDX-License-Identifier: BSD-3-Clause
!
! Instead of benchio's own file where there is no parallel NetCDF: it stops.
module ionetcdf
  implicit none
contains
  subroutine netcdfwrite(filename, iodata, n1, n2, n3, cartcomm)
    character(len=*) :: filename
    integer :: n1, n2, n3, cartcomm
    double precision :: iodata(0:n1 + 1, 0:n2 + 1, 0:n3 + 1)
    stop 'this benchio was built without NetCDF'
  end subroutine netcdfwrite
end module ionetcdf
