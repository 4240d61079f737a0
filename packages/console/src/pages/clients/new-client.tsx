import type { CreateClientBody } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { Confirm } from "../../ui/dialogs/confirm";
import { useKeyedDraft } from "../../ui/forms/use-draft";
import { NamedScopes } from "./named-scopes";

const empty = () => ({ name: "", scopes: [] as string[], isSigned: false });

export function NewClient({
  onClose,
  onDone,
}: {
  onClose: () => void;
  onDone: (client: { id: string; secret: string | null }) => void;
}) {
  const queries = useQueryClient();
  const { value, edit, clear } = useKeyedDraft("client", empty);
  const create = useAction({
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
  return (
    <Confirm
      title="Create a client"
      verb="Create with the passkey"
      mutation={create}
      isReady={value.name !== "" && value.scopes.length > 0}
      onConfirm={create.mutate}
      onClose={onClose}
    >
      <NamedScopes maxLength={128} value={value} error={create.error} onChange={edit} />
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
