import { attemptDelaysMs } from "@bursar/domain";
import { assetList } from "./asset-list.js";
import { limitSettings } from "./limit-settings.js";
import type { ListSetting } from "./list-setting.js";
import { marketList } from "./market-list.js";
import { networkList } from "./network-list.js";
import { oidcRoleList, oidcSettings } from "./oidc-settings.js";
import { quotaSettings } from "./quota-settings.js";
import { sandboxSettings } from "./sandbox-settings.js";
import {
  baseUrl,
  databaseUrl,
  integer,
  integers,
  matching,
  networks,
  oneOf,
  origins,
  type Setting,
  secret,
  text,
} from "./setting.js";
import { traceSettings } from "./trace-settings.js";

/**
 * Every setting that is a single value. The key is its path in the configuration file. `docs/reference/configuration.md` and
 * `bursar config` are generated from this table.
 */
export const settings = {
  host: text({
    env: "HOST",
    default: "127.0.0.1",
    about: "The address to listen on; `localhost` is 127.0.0.1. Use `::1` for IPv6.",
  }),
  port: integer(
    { env: "PORT", default: 8080, about: "The port to listen on; 0 picks a free one." },
    { min: 0, max: 65_535 },
  ),
  public_url: baseUrl({
    env: "BURSAR_PUBLIC_URL",
    about:
      "The address at which clients reach the service; it is part of every token. Required in production. Default in the sandbox: `http://` with host and port.",
  }),
  trusted_proxies: networks({
    env: "BURSAR_TRUSTED_PROXIES",
    about:
      "The addresses or networks of the proxies in front of the service, separated by commas. Their `X-Forwarded-For` determines the client's address; that of any other peer is ignored. Name single addresses: a listed network must contain nothing but proxies, because each of its hosts can choose the address that is recorded for it.",
  }),
  proxy_protocol: oneOf(
    {
      env: "BURSAR_PROXY_PROTOCOL",
      default: "false",
      about:
        "Whether the proxies in `trusted_proxies` send the client's address with the PROXY protocol, version 2, at the start of each connection. They must then always send it; other peers cannot. `X-Forwarded-For` then counts for nothing, because such a proxy passes on what the client has sent; a connection whose header names no client has the address of the proxy.",
    },
    ["false", "true"],
  ),
  allow_http_public_url: oneOf(
    {
      env: "BURSAR_ALLOW_HTTP_PUBLIC_URL",
      default: "false",
      about:
        "Whether `bursar serve` accepts a `public_url` that begins with `http://`. Tokens and secrets then cross the network unencrypted.",
    },
    ["false", "true"],
  ),
  security_contact: matching(
    {
      env: "BURSAR_SECURITY_CONTACT",
      about:
        "Where to report a vulnerability, shown in `/.well-known/security.txt`. Default: `mailto:security@` with the host of `public_url`.",
    },
    /^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/,
    "a URI that begins with mailto: or https://",
  ),
  security_expires: matching(
    {
      env: "BURSAR_SECURITY_EXPIRES",
      about:
        "When `/.well-known/security.txt` expires, as `2027-01-31T00:00:00Z`. Default: half a year from now.",
    },
    /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/,
    "a time such as 2027-01-31T00:00:00Z",
  ),
  cors_origins: origins({
    env: "BURSAR_CORS_ORIGINS",
    about:
      "The origins that may call the service from a browser (CORS), separated by commas, or `*` for all. By default there are none. Cookies are never allowed.",
  }),
  data_dir: text({
    env: "BURSAR_DATA_DIR",
    default: ".bursar",
    about: "The folder for the embedded PostgreSQL and the files of the sandbox.",
  }),
  database_url: databaseUrl({
    env: "DATABASE_URL",
    about:
      "The URL of the PostgreSQL database. It can name several servers, separated by commas; the first that takes writes is used. Without it the sandbox runs its own under `data_dir`.",
  }),
  database_schema: matching(
    {
      env: "BURSAR_DATABASE_SCHEMA",
      default: "public",
      about: "The schema of the database that holds the tables. The `search_path` of the role is not used.",
    },
    /^[a-z_][a-z0-9_]{0,62}$/,
    "a name of lower-case letters, digits and underscores",
  ),
  database_connections: integer(
    {
      env: "BURSAR_DATABASE_CONNECTIONS",
      default: 10,
      about: "The maximum number of connections to the database.",
    },
    { min: 2, max: 500 },
  ),
  master_key_file: text({
    env: "BURSAR_MASTER_KEY_FILE",
    about:
      "The file with the master key, which encrypts secrets in the database: 32 bytes in base64 or hexadecimal. A file with several keys has one a line, the current one first. Only its owner may have access to it. Required in production; the sandbox creates its own under `data_dir`.",
  }),
  log_level: oneOf({ env: "LOG_LEVEL", default: "info", about: "The lowest level of log lines to write." }, [
    "trace",
    "debug",
    "info",
    "warn",
    "error",
    "fatal",
    "silent",
  ]),
  ...sandboxSettings,
  metrics_token: secret({
    env: "BURSAR_METRICS_TOKEN",
    about:
      "The bearer token that `/metrics` requires. Without it `/metrics` answers callers on this machine only, and no one if `public_url` is set.",
  }),
  metrics_host: text({
    env: "BURSAR_METRICS_HOST",
    default: "127.0.0.1",
    about: "The address to listen on for `metrics_port`.",
  }),
  metrics_port: integer(
    {
      env: "BURSAR_METRICS_PORT",
      about:
        "A port of its own for `/metrics`, which needs no token unless `metrics_token` is set. Open it to the scraper alone.",
    },
    { min: 1, max: 65_535 },
  ),
  "policy.destination_delay_seconds": integer(
    {
      env: "BURSAR_DESTINATION_DELAY_SECONDS",
      default: 86_400,
      about:
        "The delay before a new address on the allow-list takes effect. In the sandbox the default is 0.",
    },
    { min: 0, max: 30 * 86_400 },
  ),
  "audit.checkpoint_seconds": integer(
    {
      default: 60,
      about: "How often the service signs the end of each audit log that has grown. 0 turns it off.",
    },
    { min: 0, max: 86_400 },
  ),
  "webhooks.concurrency": integer(
    { default: 4, about: "The maximum number of concurrent requests to a webhook endpoint." },
    { min: 1, max: 64 },
  ),
  "webhooks.timeout_ms": integer(
    {
      default: 15_000,
      about: "The timeout of a webhook delivery attempt, until the end of the response.",
    },
    { min: 100, max: 60_000 },
  ),
  "webhooks.retry_delays_ms": integers(
    {
      default: attemptDelaysMs.slice(1).join(","),
      about:
        "The delays after each failed webhook delivery attempt, separated by commas, each varied by up to 20 % at random. After the last one the delivery fails.",
    },
    { min: 1, max: 604_800_000, countMax: 20 },
  ),
  "webhooks.retention_days": integer(
    { default: 30, about: "The number of days that webhook deliveries and their attempts are kept." },
    { min: 1, max: 3650 },
  ),
  "webhooks.allow_ip_literals": oneOf(
    {
      default: "false",
      about: "Whether the URL of a webhook endpoint may contain a public IP address instead of a host name.",
    },
    ["false", "true"],
  ),
  "webhooks.private_networks": networks({
    about:
      "Private networks that webhooks may be sent to, separated by commas. Names such as `hooks.internal` are then allowed if they resolve. Every tenant can reach these networks. Loopback, link-local and cloud metadata addresses stay blocked.",
  }),
  ...limitSettings,
  "stream.allowed_origins": origins({
    env: "BURSAR_STREAM_ALLOWED_ORIGINS",
    about:
      "The origins of web pages that may open the live stream, besides the service's own, separated by commas, or `*` for all.",
  }),
  "stream.sockets": integer(
    { default: 10_000, about: "The maximum number of streams in a process." },
    { min: 1, max: 1_000_000 },
  ),
  "stream.sockets_per_client": integer(
    { default: 100, about: "The maximum number of streams of one client." },
    { min: 1, max: 1_000_000 },
  ),
  "stream.subscriptions_per_socket": integer(
    { default: 64, about: "The maximum number of subscriptions of a stream." },
    { min: 1, max: 10_000 },
  ),
  "stream.message_bytes": integer(
    { default: 65_536, about: "The maximum size of a message from a client on a stream." },
    { min: 1024, max: 1_048_576 },
  ),
  "stream.messages_per_second": integer(
    { default: 20, about: "The average number of messages a second that a client may send on a stream." },
    { min: 1, max: 10_000 },
  ),
  "stream.buffer_bytes": integer(
    {
      default: 1_048_576,
      about: "The maximum amount of data buffered for a slow reader before its stream is closed.",
    },
    { min: 524_288, max: 268_435_456 },
  ),
  "stream.heartbeat_ms": integer(
    { default: 25_000, about: "The interval of pings on a stream; a stream that misses two is closed." },
    { min: 250, max: 300_000 },
  ),
  "stream.shutdown_spread_ms": integer(
    {
      default: 3000,
      about:
        "The period over which a shutdown spreads the closing of its streams, at most half of the shutdown timeout.",
    },
    { min: 0, max: 60_000 },
  ),
  ...quotaSettings,
  ...traceSettings,
  ...oidcSettings,
} satisfies Record<string, Setting<string> | Setting<number>>;

export type SettingKey = keyof typeof settings;

/** Every setting that is a list. Its key is at the top level of the configuration file. */
export const listSettings = {
  assets: assetList,
  networks: networkList,
  markets: marketList,
  oidc_roles: oidcRoleList,
} satisfies Record<string, ListSetting<object>>;

export type ListKey = keyof typeof listSettings;

type EntryOf<S> = S extends ListSetting<infer Entry> ? Entry : never;

type SettingValue<S> = S extends { read: (text: string) => infer T | undefined } ? T : never;

/** The keys that have a value in every configuration, because they have a default. */
type DefaultedKey = Exclude<
  SettingKey,
  | "public_url"
  | "trusted_proxies"
  | "cors_origins"
  | "database_url"
  | "master_key_file"
  | "signer_socket"
  | "metrics_token"
  | "metrics_port"
  | "security_contact"
  | "security_expires"
  | "stream.allowed_origins"
  | "traces.otlp_url"
  | "traces.otlp_headers"
  | "webhooks.private_networks"
>;

export type Settings = { readonly [K in DefaultedKey]: SettingValue<(typeof settings)[K]> } & {
  readonly [K in Exclude<SettingKey, DefaultedKey>]?: SettingValue<(typeof settings)[K]>;
} & { readonly [K in ListKey]: readonly EntryOf<(typeof listSettings)[K]>[] };
