import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import { Confirm } from "../../ui/dialogs/confirm";
import { ActionButton } from "../../ui/forms/action-button";
import { faultOf } from "../../ui/forms/fault-of";
import { AreaField, SelectField, TextField } from "../../ui/forms/text-field";
import { useDraft } from "../../ui/forms/use-draft";

const empty = () => ({ key: crypto.randomUUID() as string, label: "", network: "", address: "", note: "" });

export function NewDestination({
  onClose,
  onDone,
}: {
  onClose: () => void;
  /** With the id of the change request, if others must approve it. */
  onDone: (changeRequestId: string | undefined) => void;
}) {
  const queries = useQueryClient();
  const { value, change, clear } = useDraft("destination", empty);
  const networks = useQuery({
    queryKey: ["networks"],
    queryFn: ({ signal }) => bursar.networks.list({ signal }),
    staleTime: 600_000,
  });
  const create = useMutation({
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
  const edit = (part: Partial<typeof value>) => change({ ...part, key: crypto.randomUUID() });
  const known = networks.data?.data.filter(({ id }) => id !== "book") ?? [];
  return (
    <Confirm
      title="List an address"
      error={create.error}
      onClose={onClose}
      action={
        <ActionButton
          tone="primary"
          isPending={create.isPending}
          disabled={value.label === "" || value.network === "" || value.address === ""}
          onAct={() => create.mutate()}
        >
          List it with the passkey
        </ActionButton>
      }
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
