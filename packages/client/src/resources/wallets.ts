import type {
  ListWalletEntriesQuery,
  ListWalletsQuery,
  ShowWalletHistoryQuery,
} from "../generated/operations.js";
import type { CreateWalletBody, FreezeWalletBody } from "../generated/schemas.js";
import { createCursorList } from "../lists/list.js";
import type { CallOptions, CreateOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";

export function createWallets(transport: Transport) {
  return {
    /** Requests a wallet; it is `creating` at first, and then `active`. */
    create: (body: CreateWalletBody, options?: CreateOptions) =>
      transport.call("POST /v1/wallets", { body, keyed: true }, options),
    /** A wallet with its balances. */
    get: (id: string, options?: CallOptions) =>
      transport.call("GET /v1/wallets/{id}", { path: { id } }, options),
    list: (query?: ListWalletsQuery, options?: CallOptions) =>
      createCursorList((position) =>
        transport.call("GET /v1/wallets", { query: { ...query, ...position } }, options),
      ),
    /** The statement of a wallet: every change of its balance of an asset, newest first. */
    entries: (id: string, query: ListWalletEntriesQuery, options?: CallOptions) =>
      createCursorList((position) =>
        transport.call(
          "GET /v1/wallets/{id}/entries",
          { path: { id }, query: { ...query, ...position } },
          options,
        ),
      ),
    /** The balances of an asset at the end of each hour or day. */
    history: (id: string, query: ShowWalletHistoryQuery, options?: CallOptions) =>
      transport.call("GET /v1/wallets/{id}/history", { path: { id }, query }, options),
    /** After this returns, nothing leaves the wallet. The body can give a reason. */
    freeze: (id: string, body?: FreezeWalletBody, options?: CallOptions) =>
      transport.call(
        "POST /v1/wallets/{id}/freeze",
        { path: { id }, ...(body === undefined ? {} : { body }), repeatable: true },
        options,
      ),
    unfreeze: (id: string, options?: CallOptions) =>
      transport.call("POST /v1/wallets/{id}/unfreeze", { path: { id }, repeatable: true }, options),
  };
}
