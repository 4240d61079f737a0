import type { Invitation } from "@bursar/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import { Confirm } from "../../ui/dialogs/confirm";
import { ActionButton } from "../../ui/forms/action-button";
import { faultOf } from "../../ui/forms/fault-of";
import { TextField } from "../../ui/forms/text-field";
import { useDraft } from "../../ui/forms/use-draft";
import { RoleField } from "./role-field";

const empty = () => ({ key: crypto.randomUUID() as string, email: "", name: "", role: "" });

export function InvitePerson({
  onClose,
  onDone,
}: {
  onClose: () => void;
  onDone: (invitation: Invitation | null) => void;
}) {
  const queries = useQueryClient();
  const { value, change, clear } = useDraft("invitation", empty);
  const invite = useMutation({
    mutationFn: () => {
      const { key, ...body } = value;
      return bursar.people.invite(body, { idempotencyKey: key });
    },
    onSuccess: async ({ invitation }) => {
      clear();
      await queries.invalidateQueries({ queryKey: ["people"] });
      onDone(invitation);
    },
  });
  const edit = (part: Partial<typeof value>) => change({ ...part, key: crypto.randomUUID() });
  return (
    <Confirm
      title="Invite a person"
      error={invite.error}
      onClose={onClose}
      action={
        <ActionButton
          tone="primary"
          isPending={invite.isPending}
          disabled={value.email === "" || value.name === "" || value.role === ""}
          onAct={() => invite.mutate()}
        >
          Invite with the passkey
        </ActionButton>
      }
    >
      <TextField
        label="Email"
        hint="It tells people apart. Nothing is sent to it."
        type="email"
        maxLength={254}
        value={value.email}
        fault={faultOf(invite.error, "email")}
        onValue={(email) => edit({ email: email.trim() })}
      />
      <TextField
        label="Name"
        maxLength={128}
        value={value.name}
        fault={faultOf(invite.error, "name")}
        onValue={(name) => edit({ name })}
      />
      <RoleField
        value={value.role}
        fault={faultOf(invite.error, "role")}
        onValue={(role) => edit({ role })}
      />
      <p className="quiet small">
        The person depends on you, because you see the link. Two people who depend on one do not count as two
        approvers: the operator invites approvers with <code>bursar people invite</code>.
      </p>
    </Confirm>
  );
}
