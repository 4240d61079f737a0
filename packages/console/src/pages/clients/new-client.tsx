import type { CreateClientBody } from "@bursar/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import { useScopes } from "../../session/use-me";
import { Confirm } from "../../ui/dialogs/confirm";
import { ActionButton } from "../../ui/forms/action-button";
import { CheckList } from "../../ui/forms/check-list";
import { faultOf } from "../../ui/forms/fault-of";
import { TextField } from "../../ui/forms/text-field";
import { useDraft } from "../../ui/forms/use-draft";

const empty = () => ({
  key: crypto.randomUUID() as string,
  name: "",
  scopes: [] as string[],
  isSigned: false,
});

export function NewClient({
  onClose,
  onDone,
}: {
  onClose: () => void;
  onDone: (client: { id: string; secret: string | null }) => void;
}) {
  const queries = useQueryClient();
  const own = useScopes();
  const { value, change, clear } = useDraft("client", empty);
  const create = useMutation({
    mutationFn: () => {
      const { key, name, scopes, isSigned } = value;
      const body = { name, scopes, require_signature: isSigned } as CreateClientBody;
      return bursar.clients.create(body, { idempotencyKey: key });
    },
    onSuccess: async ({ id, secret }) => {
      clear();
      await queries.invalidateQueries({ queryKey: ["clients"] });
      onDone({ id, secret });
    },
  });
  const edit = (part: Partial<typeof value>) => change({ ...part, key: crypto.randomUUID() });
  return (
    <Confirm
      title="Create a client"
      error={create.error}
      onClose={onClose}
      action={
        <ActionButton
          tone="primary"
          isPending={create.isPending}
          disabled={value.name === "" || value.scopes.length === 0}
          onAct={() => create.mutate()}
        >
          Create with the passkey
        </ActionButton>
      }
    >
      <TextField
        label="Name"
        maxLength={128}
        value={value.name}
        fault={faultOf(create.error, "name")}
        onValue={(name) => edit({ name })}
      />
      <CheckList
        legend="Scopes, of those that you have"
        options={own}
        chosen={value.scopes}
        onChange={(scopes) => edit({ scopes })}
      />
      <label>
        <input
          type="checkbox"
          checked={value.isSigned}
          onChange={(event) => edit({ isSigned: event.target.checked })}
        />{" "}
        Its requests must be signed with a key
      </label>
    </Confirm>
  );
}
