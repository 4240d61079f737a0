import type { CreateWalletBody } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { bursar } from "../../api/bursar";
import { useNetworks } from "../../api/catalog";
import { useAction } from "../../api/use-action";
import { Confirm } from "../../ui/dialogs/confirm";
import { faultOf } from "../../ui/forms/fault-of";
import { SelectField, TextField } from "../../ui/forms/text-field";
import { useKeyedDraft } from "../../ui/forms/use-draft";

const purposes = [
  "treasury",
  "settlement",
  "payout",
] as const satisfies readonly CreateWalletBody["purpose"][];

const empty = () => ({ name: "", purpose: "payout", network: "book" });

export function NewWallet({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const networks = useNetworks();
  const { value, edit, clear } = useKeyedDraft("wallet", empty);
  const create = useAction({
    mutationFn: () => {
      const { key, name, purpose, network } = value;
      const body = { name: name.trim(), purpose, network } as CreateWalletBody;
      return bursar.wallets.create(body, { idempotencyKey: key });
    },
    onSuccess: async ({ id }) => {
      clear();
      await queries.invalidateQueries({ queryKey: ["wallets"] });
      await queries.invalidateQueries({ queryKey: ["wallet-names"] });
      onClose();
      await navigate({ to: "/wallets/$id", params: { id } });
    },
  });
  return (
    <Confirm
      title="New wallet"
      verb="Create"
      closeVerb="Close"
      mutation={create}
      isReady={value.name.trim() !== ""}
      onConfirm={create.mutate}
      onClose={onClose}
    >
      <TextField
        label="Name"
        fault={faultOf(create.error, "name")}
        required
        maxLength={128}
        value={value.name}
        onValue={(name) => edit({ name })}
      />
      <SelectField label="Purpose" value={value.purpose} onValue={(purpose) => edit({ purpose })}>
        {purposes.map((purpose) => (
          <option key={purpose}>{purpose}</option>
        ))}
      </SelectField>
      <SelectField
        label="Network"
        hint="The book is the ledger of this service. A wallet on a network gets an address there"
        fault={faultOf(create.error, "network")}
        value={value.network}
        onValue={(network) => edit({ network })}
      >
        <option>book</option>
        {networks.data?.data.map(({ id }) => (
          <option key={id}>{id}</option>
        ))}
      </SelectField>
    </Confirm>
  );
}
