import { oneOf, type Setting, text } from "./setting.js";

/** What runs beside the service: in the sandbox by itself, in production started by the operator. */
export const sandboxSettings = {
  market_maker: oneOf(
    {
      env: "BURSAR_MARKET_MAKER",
      default: "on",
      about:
        "Whether the sandbox runs a small market maker, so that its books are not empty. Production never runs one.",
    },
    ["on", "off"],
  ),
  sandbox_chain: oneOf(
    {
      env: "BURSAR_SANDBOX_CHAIN",
      default: "on",
      about:
        "Whether the sandbox runs a development chain and a signer, if neither `assets` nor `networks` is configured. Production never runs them.",
    },
    ["on", "off"],
  ),
  signer_socket: text({
    env: "BURSAR_SIGNER_SOCKET",
    about:
      "The Unix socket of `bursar-signer`, the process that has the keys of chain wallets. Required if `networks` is configured.",
  }),
} satisfies Record<string, Setting<string>>;
