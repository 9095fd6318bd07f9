// Rows of options that several programs have. (Only the tables in api/options/ include this.)
#pragma once

#include "api/options/settings.hpp"
#include "base/option_field.hpp"
#include "base/option_reading.hpp"

namespace hummer {

// What an address may be instead.
inline constexpr std::string_view no_address[] = {"none"};

inline constexpr Option config_row{
    .name = "config",
    .value = "FILE",
    .type = OptionType::text,
    .description = "TOML file with options, below environment and flags (docs/configuration.md)",
    .in_files = false};

inline constexpr Option strict_variables_row{
    .name = strict_variables,
    .type = OptionType::on_off,
    .otherwise = "false",
    .description = "refuse variables HUMMER_... that nothing reads, instead of warning of them",
    .shared = true};

inline constexpr Option job_manager_row{.name = "job-manager",
                                        .value = "ADDRESS",
                                        .type = OptionType::address,
                                        .description = "address of the JobManager, host:port",
                                        .shared = true};

// No flag: everyone can read a command line.
inline constexpr Option token_row{
    .name = "token",
    .value = "TEXT",
    .description = "the cluster's token itself, where no --token-file is given",
    .secret = true,
    .in_flags = false,
    .in_files = false};

inline constexpr Option token_file_row{
    .name = "token-file",
    .value = "FILE",
    .description = "file with the cluster's token; or the token itself in HUMMER_TOKEN",
    .shared = true};

inline constexpr Option tls_ca_row{
    .name = "tls-ca",
    .value = "FILE",
    .description = "TLS: the certificates (PEM) of the CA that the cluster's are signed by",
    .shared = true};

inline constexpr Option tls_certificate_row{
    .name = "tls-certificate",
    .value = "FILE",
    .description = "TLS: the own certificate (PEM), with those between it and the CA",
    .shared = true};

inline constexpr Option tls_key_row{
    .name = "tls-key",
    .value = "FILE",
    .description = "TLS: its private key (PEM, without a passphrase)",
    .shared = true};

inline constexpr Option tls_peer_name_row{
    .name = "tls-peer-name",
    .value = "NAME",
    .description = "TLS: the name in the others' certificates, if not their host's name or address",
    .shared = true};

inline constexpr Option memory_limit_row{
    .name = "memory-limit",
    .value = "SIZE",
    .type = OptionType::size,
    .otherwise = "half of the cgroup's limit or of the machine's memory",
    .description =
        "what jobs may hold in memory, such as 4G; state beyond it goes to disk; 0: no "
        "limit (docs/memory.md)"};

inline constexpr Option spill_directory_row{
    .name = "spill-dir",
    .value = "DIR",
    .description = "where state goes that has no room in memory"};

inline constexpr Option rdma_provider_row{
    .name = "rdma-provider",
    .value = "NAME",
    .otherwise = "automatic",
    .description =
        "device for one-sided writes between workers: automatic (an RDMA device, if the machine "
        "has one), none, or a provider of libfabric, such as verbs, efa or tcp"};

inline constexpr Option insecure_row{
    .name = "insecure",
    .description =
        "let in everybody who can reach it, without token or certificate, also from "
        "other machines"};

inline constexpr std::string_view log_formats[] = {"text", "json"};

inline constexpr Option log_level_row{
    .name = "log-level",
    .value = "LEVELS",
    .description =
        "what is logged: error, warning, info or debug, and MODULE=LEVEL for single modules "
        "(net, cluster, cli), such as info,net=debug",
    .shared = true};

inline constexpr Option log_format_row{.name = "log-format",
                                       .value = "FORMAT",
                                       .type = OptionType::choice,
                                       .choices = log_formats,
                                       .description = "log lines as text, or as a JSON object each",
                                       .shared = true};

// --config, the token and the TLS files; `path` leads to the CredentialSettings.
template <auto... path>
constexpr auto credential_rows() {
  using Settings = typename option_field_detail::FirstOwner<path...>::Type;
  constexpr auto tls = &CredentialSettings::tls;
  return std::array{row_without_field<Settings>(config_row),
                    row_without_field<Settings>(strict_variables_row),
                    field<path..., &CredentialSettings::token>(token_row),
                    field<path..., &CredentialSettings::token_file>(token_file_row),
                    field<path..., tls, &TlsOptions::ca_file>(tls_ca_row),
                    field<path..., tls, &TlsOptions::certificate_file>(tls_certificate_row),
                    field<path..., tls, &TlsOptions::key_file>(tls_key_row),
                    field<path..., tls, &TlsOptions::peer_name>(tls_peer_name_row)};
}

}  // namespace hummer
