import type { CallOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";

export function createTokens(transport: Transport) {
  return {
    /** The access token that the client uses now. It is requested from `POST /oauth/token` if there is none. */
    current: (options?: Pick<CallOptions, "signal">) => transport.token(options),
    revoke: async (token: string, options?: CallOptions) => {
      const form = { token, ...(await transport.clientAuthentication()) };
      return await transport.call("POST /oauth/revoke", { form, anonymous: true, repeatable: true }, options);
    },
    introspect: async (token: string, options?: CallOptions) => {
      const form = { token, ...(await transport.clientAuthentication()) };
      return await transport.call(
        "POST /oauth/introspect",
        { form, anonymous: true, repeatable: true },
        options,
      );
    },
    /** The keys that sign access tokens. */
    keys: (options?: CallOptions) =>
      transport.call("GET /.well-known/jwks.json", { anonymous: true }, options),
    /** What an OAuth library discovers. */
    metadata: (options?: CallOptions) =>
      transport.call("GET /.well-known/oauth-authorization-server", { anonymous: true }, options),
  };
}
