# What `cmake --install` puts where. The result can be moved as a whole: neither the pkg-config
# file nor the CMake package contains the prefix.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(UNSEEN_ZSH_DIR ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING
  "where zsh looks for completions (Debian's packages: share/zsh/vendor-completions)")

install(FILES include/unseen.h include/unseen_list.h include/unseen_small.h include/unseen_bitmap.h
  include/unseen_foreign.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS unseen_shared unseen_static EXPORT unseen_targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET unseen)
  install(TARGETS unseen RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # The tool writes its options and commands into the manual pages.
  file(GLOB pages CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/docs/man docs/man/*.1)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/man)
  foreach(page ${pages})
    set(from ${PROJECT_SOURCE_DIR}/docs/man/${page})
    set(to ${PROJECT_BINARY_DIR}/man/${page})
    add_custom_command(OUTPUT ${to} COMMAND unseen __man ${from} > ${to} DEPENDS unseen ${from}
      VERBATIM)
    list(APPEND made_pages ${to})
  endforeach()
  add_custom_target(manual_pages ALL DEPENDS ${made_pages})
  install(FILES ${made_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES completions/unseen.bash RENAME unseen
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES completions/_unseen DESTINATION ${UNSEEN_ZSH_DIR})
  install(FILES completions/unseen.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  # The manual pages name files of docs/ and examples/.
  install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs
    FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN man EXCLUDE)
  install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()

if(TARGET unseen_module)
  set(UNSEEN_MODULE_DIR ${CMAKE_INSTALL_LIBDIR}/redis/modules CACHE STRING
    "where Redis modules are (Debian's packages: lib/redis/modules)")
  # Servers refuse a module that is not executable; CMake on Debian makes libraries that are not.
  install(TARGETS unseen_module LIBRARY DESTINATION ${UNSEEN_MODULE_DIR}
    PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  install(FILES docs/man/unseen-redis.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7)
endif()

# find_package(unseen): unseen::unseen (shared) and unseen::static.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/unseen)
install(EXPORT unseen_targets NAMESPACE unseen:: DESTINATION ${package_dir}
  FILE unseen-targets.cmake)
configure_package_config_file(cmake/unseen-config.cmake.in unseen-config.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
else()
  set(compatibility SameMajorVersion)
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/unseen-config-version.cmake
  COMPATIBILITY ${compatibility})
install(FILES ${PROJECT_BINARY_DIR}/unseen-config.cmake
  ${PROJECT_BINARY_DIR}/unseen-config-version.cmake DESTINATION ${package_dir})

# pkg-config. The prefix is relative to the file, because `cmake --install --prefix` is free to
# choose another one than CMAKE_INSTALL_PREFIX. Absolute folders (distributions set them) stay.
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
  set(pc_libdir ${CMAKE_INSTALL_LIBDIR})
else()
  file(RELATIVE_PATH pc_up "/prefix/${pc_dir}" "/prefix")
  string(REGEX REPLACE "/$" "" pc_up "${pc_up}")
  set(pc_prefix "\${pcfiledir}/${pc_up}")
  set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(pc_includedir ${CMAKE_INSTALL_INCLUDEDIR})
else()
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
# A program that is linked with -static needs what these libraries need themselves, such as
# libunistring.
set(pc_private ${IDN2_STATIC_LIBRARIES} ${SODIUM_STATIC_LIBRARIES})
list(REMOVE_DUPLICATES pc_private)
list(REMOVE_ITEM pc_private pthread m)
list(TRANSFORM pc_private PREPEND "-l")
list(APPEND pc_private -lm)
list(JOIN pc_private " " pc_private)
configure_file(cmake/unseen.pc.in unseen.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/unseen.pc DESTINATION ${pc_dir})
