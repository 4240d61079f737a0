import { attemptDelaysMs } from "@bursar/domain";
import { assetList } from "./asset-list.js";
import type { ListSetting } from "./list-setting.js";
import { marketList } from "./market-list.js";
import { quotaSettings } from "./quota-settings.js";
import {
  baseUrl,
  integer,
  integers,
  networks,
  oneOf,
  origins,
  type Setting,
  secret,
  text,
  url,
} from "./setting.js";

/**
 * Every setting of the service that is a single value. The key is its path in the configuration file; `docs/reference/configuration.md` and
 * `bursar config` are made from this table.
 */
export const settings = {
  host: text({ env: "HOST", default: "127.0.0.1", about: "The address to listen on." }),
  port: integer(
    { env: "PORT", default: 8080, about: "The port to listen on; 0 takes a free one." },
    { min: 0, max: 65_535 },
  ),
  public_url: baseUrl({
    env: "BURSAR_PUBLIC_URL",
    about: "The address under which clients reach the service; without it, `http://` with host and port.",
  }),
  trusted_proxies: networks({
    env: "BURSAR_TRUSTED_PROXIES",
    about:
      "The addresses or networks of the proxies in front of the service, separated by commas; their `X-Forwarded-For` tells the client's address. Without it nobody's is believed.",
  }),
  cors_origins: origins({
    env: "BURSAR_CORS_ORIGINS",
    about:
      "The origins whose scripts may call the service from a browser, separated by commas, or `*` for all. Without it there are none. Cookies are never allowed.",
  }),
  data_dir: text({
    env: "BURSAR_DATA_DIR",
    default: ".bursar",
    about: "The folder for the embedded PostgreSQL and the sandbox's files.",
  }),
  database_url: url(
    {
      env: "DATABASE_URL",
      about: "The PostgreSQL database to use; without it the sandbox runs its own under `data_dir`.",
    },
    ["postgres:", "postgresql:"],
  ),
  database_connections: integer(
    {
      env: "BURSAR_DATABASE_CONNECTIONS",
      default: 10,
      about: "How many connections to the database to hold at most.",
    },
    { min: 2, max: 500 },
  ),
  master_key_file: text({
    env: "BURSAR_MASTER_KEY_FILE",
    about:
      "The file with the master key, which seals secrets in the database: 32 bytes in base64 or hexadecimal. The sandbox makes its own under `data_dir`; production needs it.",
  }),
  log_level: oneOf({ env: "LOG_LEVEL", default: "info", about: "The least important log lines to write." }, [
    "trace",
    "debug",
    "info",
    "warn",
    "error",
    "fatal",
    "silent",
  ]),
  market_maker: oneOf(
    {
      env: "BURSAR_MARKET_MAKER",
      default: "on",
      about:
        "Whether the sandbox has a small market maker, so that its books are not empty. Production never has one.",
    },
    ["on", "off"],
  ),
  metrics_token: secret({
    env: "BURSAR_METRICS_TOKEN",
    about:
      "The bearer token that `/metrics` asks for; without it `/metrics` answers callers on this machine, and nobody where `public_url` is set.",
  }),
  "policy.destination_delay_seconds": integer(
    {
      env: "BURSAR_DESTINATION_DELAY_SECONDS",
      default: 86_400,
      about:
        "How long a new address on the allow-list waits before it counts. The sandbox has 0 where nothing is set.",
    },
    { min: 0, max: 30 * 86_400 },
  ),
  "webhooks.concurrency": integer(
    { default: 4, about: "How many requests to one webhook endpoint may be under way at once." },
    { min: 1, max: 64 },
  ),
  "webhooks.timeout_ms": integer(
    {
      default: 15_000,
      about: "How long an attempt to deliver a webhook may take, to the end of the answer.",
    },
    { min: 100, max: 60_000 },
  ),
  "webhooks.retry_delays_ms": integers(
    {
      default: attemptDelaysMs.slice(1).join(","),
      about:
        "How long to wait after each failed attempt to deliver a webhook, separated by commas; after the last one it is given up. Each is up to a fifth shorter or longer.",
    },
    { min: 1, max: 604_800_000, countMax: 20 },
  ),
  "webhooks.retention_days": integer(
    { default: 30, about: "How long webhook deliveries and their attempts are kept." },
    { min: 1, max: 3650 },
  ),
  "webhooks.allow_ip_literals": oneOf(
    {
      default: "false",
      about: "Whether a webhook endpoint may have a public address in its URL instead of a name.",
    },
    ["false", "true"],
  ),
  "webhooks.private_networks": networks({
    about:
      "Private networks that webhooks may go to as well, separated by commas; names such as `hooks.internal` are taken then, if the DNS has them. Every tenant can reach what is in them. Loopback, link-local and cloud metadata addresses stay closed.",
  }),
  "limits.body_bytes": integer(
    { default: 65_536, about: "The largest request body." },
    { min: 1024, max: 16_777_216 },
  ),
  "limits.header_bytes": integer(
    { default: 8192, about: "The largest request line and headers, together." },
    { min: 1024, max: 65_536 },
  ),
  "limits.json_depth": integer(
    { default: 16, about: "How deep objects and arrays may nest in a body." },
    { min: 1, max: 128 },
  ),
  "limits.headers_timeout_ms": integer(
    { default: 5000, about: "How long the headers of a request may take to arrive." },
    { min: 100, max: 60_000 },
  ),
  "limits.request_timeout_ms": integer(
    { default: 10_000, about: "How long a whole request may take to arrive." },
    { min: 100, max: 300_000 },
  ),
  "limits.requests_per_client": integer(
    { default: 500, about: "How many requests of one client a process has in progress at once." },
    { min: 1, max: 1_000_000 },
  ),
  "limits.connections_per_client": integer(
    {
      default: 1000,
      about:
        "How many connections one client has to a process; a connection counts for every client that uses it. Not counted where `trusted_proxies` is set: then all connections are the proxy's.",
    },
    { min: 1, max: 1_000_000 },
  ),
  "limits.open_orders": integer(
    {
      default: 10_000,
      about:
        "How many orders a tenant has open in one market; one more that could rest is `rejected` with `TOO_MANY_OPEN_ORDERS`.",
    },
    { min: 1, max: 1_000_000 },
  ),
  "limits.accept_wait_ms": integer(
    {
      default: 2000,
      about: "How long the oldest request may wait to be written before new work is refused.",
    },
    { min: 10, max: 60_000 },
  ),
  "limits.event_loop_delay_ms": integer(
    {
      default: 500,
      about: "How late a process may run what is due, again and again, before new work is refused.",
    },
    { min: 10, max: 60_000 },
  ),
  "limits.idle_timeout_ms": integer(
    {
      default: 60_000,
      about:
        "How long nothing may move on a connection before it is closed, as when a client does not read its answer. An answer can be held back for 30 s.",
    },
    { min: 31_000, max: 600_000 },
  ),
  "limits.shutdown_timeout_ms": integer(
    { default: 10_000, about: "How long stopping may take; requests in flight get most of it." },
    { min: 1000, max: 600_000 },
  ),
  "stream.allowed_origins": origins({
    env: "BURSAR_STREAM_ALLOWED_ORIGINS",
    about:
      "The origins of web pages that may open the live stream, besides the service's own, separated by commas; `*` lets in every page.",
  }),
  "stream.sockets": integer(
    { default: 10_000, about: "How many streams one process holds." },
    { min: 1, max: 1_000_000 },
  ),
  "stream.sockets_per_client": integer(
    { default: 100, about: "How many of them one client may have." },
    { min: 1, max: 1_000_000 },
  ),
  "stream.subscriptions_per_socket": integer(
    { default: 64, about: "How many channels one stream may be subscribed to." },
    { min: 1, max: 10_000 },
  ),
  "stream.message_bytes": integer(
    { default: 65_536, about: "The largest message that a client may send on a stream." },
    { min: 1024, max: 1_048_576 },
  ),
  "stream.messages_per_second": integer(
    { default: 20, about: "How many messages a client may send on a stream, on average." },
    { min: 1, max: 10_000 },
  ),
  "stream.buffer_bytes": integer(
    { default: 1_048_576, about: "How much may wait for a slow reader of a stream before it is cut." },
    { min: 524_288, max: 268_435_456 },
  ),
  "stream.heartbeat_ms": integer(
    { default: 25_000, about: "How often a stream is pinged; one that misses two pings is ended." },
    { min: 250, max: 300_000 },
  ),
  "stream.shutdown_spread_ms": integer(
    {
      default: 3000,
      about:
        "Over how long a stopping service spreads the end of its streams, within half of its time for stopping.",
    },
    { min: 0, max: 60_000 },
  ),
  ...quotaSettings,
} satisfies Record<string, Setting<string> | Setting<number>>;

export type SettingKey = keyof typeof settings;

/** Every setting that is a list. The key stands at the top level of the configuration file. */
export const listSettings = {
  assets: assetList,
  markets: marketList,
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
  | "metrics_token"
  | "stream.allowed_origins"
  | "webhooks.private_networks"
>;

export type Settings = { readonly [K in DefaultedKey]: SettingValue<(typeof settings)[K]> } & {
  readonly [K in Exclude<SettingKey, DefaultedKey>]?: SettingValue<(typeof settings)[K]>;
} & { readonly [K in ListKey]: readonly EntryOf<(typeof listSettings)[K]>[] };
