# Included last by the root: Debian packages, made by `make packages`. Each is one component of what is
# installed, or a group of two where files lie beside the prefix.
set(deploy ${PROJECT_SOURCE_DIR}/controller/deploy)

# plimsoll_documents(<component> <package>): what every package says of itself.
function(plimsoll_documents component package)
  install(FILES ${deploy}/debian/copyright
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()
plimsoll_documents(controller plimsoll-controller)
plimsoll_documents(cli plimsoll)
plimsoll_documents(dev libplimsoll-agent-dev)
plimsoll_documents(dashboards plimsoll-dashboards)

# What operators begin with: every setting and why one would change it, as the program itself says it.
# In /etc whatever the prefix is, so only in packages.
set(made ${CMAKE_CURRENT_BINARY_DIR}/package_files/plimsoll-controller.yaml)
add_custom_command(OUTPUT ${made}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/package_files
  COMMAND plimsoll_controller_main config init > ${made}
  DEPENDS plimsoll_controller_main VERBATIM)
add_custom_target(plimsoll_package_files DEPENDS ${made})
install(FILES ${made} DESTINATION /etc/plimsoll COMPONENT controller-etc EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR Plimsoll)
set(CPACK_PACKAGE_CONTACT "The authors of Plimsoll <plimsoll@plimsoll.example>")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
# With DESTDIR, so that /etc is not below the prefix.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL controller controller-etc cli dev dashboards)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_CONTROLLER_PACKAGE_NAME plimsoll-controller)
set(CPACK_DEBIAN_CONTROLLER_DESCRIPTION
  "Grants each instance of a fleet its share of the quota of a dependency.\nWith a systemd unit, and a configuration to begin with.")
set(CPACK_DEBIAN_CONTROLLER_PACKAGE_SECTION net)
set(CPACK_DEBIAN_CONTROLLER_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_CONTROLLER_PACKAGE_SUGGESTS "plimsoll, plimsoll-dashboards, prometheus")
set(CPACK_DEBIAN_CONTROLLER_PACKAGE_CONTROL_EXTRA
  "${deploy}/debian/postinst;${deploy}/debian/prerm;${deploy}/debian/postrm;${deploy}/debian/conffiles")

set(CPACK_DEBIAN_CLI_PACKAGE_NAME plimsoll)
set(CPACK_DEBIAN_CLI_DESCRIPTION
  "Asks and changes a controller, checks configurations, and simulates policies.\nWith manual pages and completions.")
set(CPACK_DEBIAN_CLI_PACKAGE_SECTION net)
set(CPACK_DEBIAN_CLI_PACKAGE_SHLIBDEPS ON)

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libplimsoll-agent-dev)
set(CPACK_DEBIAN_DEV_DESCRIPTION
  "Static libraries, headers and CMake files: find_package(plimsoll).")
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libabsl-dev, libbrotli-dev, libcpp-httplib-dev, libssl-dev, zlib1g-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "libgrpc++-dev, libprotobuf-dev, prometheus-cpp-dev")

set(CPACK_DEBIAN_DASHBOARDS_PACKAGE_NAME plimsoll-dashboards)
set(CPACK_DEBIAN_DASHBOARDS_DESCRIPTION
  "Dashboards for Grafana, rules for Prometheus and a runbook for each alert.")
set(CPACK_DEBIAN_DASHBOARDS_PACKAGE_SECTION net)
set(CPACK_DEBIAN_DASHBOARDS_PACKAGE_ARCHITECTURE all)

include(CPack)
foreach(group IN ITEMS controller cli dev dashboards)
  cpack_add_component_group(${group})
  cpack_add_component(${group} GROUP ${group})
endforeach()
cpack_add_component(controller-etc GROUP controller)
