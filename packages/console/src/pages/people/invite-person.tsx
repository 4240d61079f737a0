import type { Invitation } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { useMe } from "../../session/use-me";
import { Confirm } from "../../ui/dialogs/confirm";
import { faultOf } from "../../ui/forms/fault-of";
import { TextField } from "../../ui/forms/text-field";
import { useKeyedDraft } from "../../ui/forms/use-draft";
import { RoleField } from "./role-field";

const empty = () => ({ email: "", name: "", role: "" });

export function InvitePerson({
  onClose,
  onDone,
}: {
  onClose: () => void;
  onDone: (invitation: Invitation | null) => void;
}) {
  const queries = useQueryClient();
  const me = useMe();
  const { value, edit, clear } = useKeyedDraft("invitation", empty);
  const invite = useAction({
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
  return (
    <Confirm
      title="Invite a person"
      verb="Invite with the passkey"
      mutation={invite}
      isReady={value.email !== "" && value.name !== "" && value.role !== ""}
      onConfirm={invite.mutate}
      onClose={onClose}
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
        approvers: the operator invites approvers with{" "}
        <code>bursar people invite EMAIL --name NAME --role approver --tenant {me.data?.tenant.id}</code>.
      </p>
    </Confirm>
  );
}
