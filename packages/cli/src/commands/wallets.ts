import type { CreateWalletBody, ListWalletsQuery } from "@bursar/client";
import type { Command } from "./command.js";
import { idempotencyKey, keyOf, listCommand, oneCommand } from "./lists.js";

const purposes = ["treasury", "deposit", "payout", "settlement", "fees"];

export const walletCommands: readonly Command[] = [
  listCommand<ListWalletsQuery>({
    path: "wallet list",
    summary: "list wallets with their balances",
    operation: "GET /v1/wallets",
    options: [
      { name: "purpose", value: "purpose", about: "only with this purpose", choices: purposes },
      { name: "network", value: "network", about: "only of this network" },
      { name: "state", value: "state", about: "only in this state", choices: ["creating", "active"] },
      {
        name: "frozen",
        value: "yes|no",
        about: "only frozen ones, or only others",
        choices: ["true", "false"],
      },
    ],
    columns: [
      "id",
      "name",
      "purpose",
      "network",
      "state",
      "frozen",
      {
        title: "balances",
        of: ({ balances }: { balances: { asset: string; available: string }[] }) =>
          balances.map(({ asset, available }) => `${available} ${asset}`).join(", "),
      },
    ],
    read: (bursar, query) => bursar.wallets.list(query),
  }),
  oneCommand({
    path: "wallet get",
    summary: "show a wallet with its balances",
    operation: "GET /v1/wallets/{id}",
    id: "wallet",
    send: (bursar, id) => bursar.wallets.get(id),
  }),
  {
    path: "wallet create",
    summary: "create a wallet",
    arguments: [{ name: "name", about: "its name" }],
    options: [
      { name: "purpose", value: "purpose", about: "what it is for", required: true, choices: purposes },
      {
        name: "network",
        value: "network",
        about: "`book`, which is the default, or a chain such as eip155:1",
      },
      idempotencyKey,
    ],
    operations: ["POST /v1/wallets"],
    changes: true,
    run: async ({ bursar, output }, given) => {
      const network = given.text("network");
      const body = {
        name: given.argument("name"),
        purpose: given.required("purpose") as CreateWalletBody["purpose"],
        ...(network === undefined ? {} : { network }),
      };
      output.one(await (await bursar()).wallets.create(body, keyOf(given)));
      return undefined;
    },
  },
  oneCommand({
    path: "wallet freeze",
    summary: "stop everything that would leave a wallet",
    operation: "POST /v1/wallets/{id}/freeze",
    id: "wallet",
    options: [{ name: "reason", value: "reason", about: "why; shown with the wallet and in the audit log" }],
    changes: true,
    send: (bursar, id, given) => {
      const reason = given.text("reason");
      return bursar.wallets.freeze(id, reason === undefined ? undefined : { reason });
    },
  }),
  oneCommand({
    path: "wallet unfreeze",
    summary: "end the freeze of a wallet",
    operation: "POST /v1/wallets/{id}/unfreeze",
    id: "wallet",
    changes: true,
    send: (bursar, id) => bursar.wallets.unfreeze(id),
  }),
];
