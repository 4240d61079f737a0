import { useQueryClient } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import { useNetworks } from "../../api/catalog";
import { useAction } from "../../api/use-action";
import { Confirm } from "../../ui/dialogs/confirm";
import { faultOf } from "../../ui/forms/fault-of";
import { AreaField, SelectField, TextField } from "../../ui/forms/text-field";
import { useKeyedDraft } from "../../ui/forms/use-draft";

const empty = () => ({ label: "", network: "", address: "", note: "" });

export function NewDestination({
  onClose,
  onDone,
}: {
  onClose: () => void;
  /** With the id of the change request, if others must approve it. */
  onDone: (changeRequestId: string | undefined) => void;
}) {
  const queries = useQueryClient();
  const { value, edit, clear } = useKeyedDraft("destination", empty);
  const networks = useNetworks();
  const create = useAction({
    mutationFn: () => {
      const { key, label, network, address, note } = value;
      const body = { label, network, address: address.trim(), ...(note === "" ? {} : { note }) };
      return bursar.destinations.create(body, { idempotencyKey: key });
    },
    onSuccess: async (result) => {
      clear();
      await queries.invalidateQueries({ queryKey: ["destinations"] });
      onDone(result.object === "change_request" ? result.id : undefined);
    },
  });
  const known = networks.data?.data.filter(({ id }) => id !== "book") ?? [];
  return (
    <Confirm
      title="List an address"
      verb="List it with the passkey"
      mutation={create}
      isReady={value.label !== "" && value.network !== "" && value.address !== ""}
      onConfirm={create.mutate}
      onClose={onClose}
    >
      <TextField
        label="Label"
        hint="Approvers see it beside the address"
        maxLength={128}
        value={value.label}
        fault={faultOf(create.error, "label")}
        onValue={(label) => edit({ label })}
      />
      {known.length > 0 ? (
        <SelectField
          label="Network"
          value={value.network}
          fault={faultOf(create.error, "network")}
          onValue={(network) => edit({ network })}
        >
          <option value="">Choose</option>
          {known.map(({ id }) => (
            <option key={id}>{id}</option>
          ))}
        </SelectField>
      ) : (
        <TextField
          label="Network"
          hint="The CAIP-2 id of a chain, such as eip155:1"
          value={value.network}
          fault={faultOf(create.error, "network")}
          onValue={(network) => edit({ network: network.trim() })}
        />
      )}
      <TextField
        label="Address"
        spellCheck={false}
        autoComplete="off"
        value={value.address}
        fault={faultOf(create.error, "address")}
        onValue={(address) => edit({ address })}
      />
      <AreaField
        label="Note"
        hint="Optional"
        maxLength={500}
        rows={2}
        value={value.note}
        fault={faultOf(create.error, "note")}
        onValue={(note) => edit({ note })}
      />
    </Confirm>
  );
}
