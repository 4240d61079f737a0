import type { CreateRoleBody, Role } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { Confirm } from "../../ui/dialogs/confirm";
import { ActionButton } from "../../ui/forms/action-button";
import { useDraft } from "../../ui/forms/use-draft";
import { Loaded } from "../../ui/panels/loaded";
import { PageHead } from "../../ui/panels/page-head";
import { Problem } from "../../ui/panels/problem";
import { SimpleTable } from "../../ui/tables/simple-table";
import { NamedScopes } from "../clients/named-scopes";
import { useRoles } from "./role-field";
import { describeRole } from "./role-words";

/** Named sets of scopes. A role is created and deleted, never changed: it means the same to everybody who has it. */
export function RolesPage() {
  const queries = useQueryClient();
  const roles = useRoles();
  const [isCreating, setCreating] = useState(false);
  const remove = useAction({
    mutationFn: (name: string) => bursar.roles.delete(name),
    onSettled: () => queries.invalidateQueries({ queryKey: ["roles"] }),
  });
  return (
    <>
      <PageHead title="Roles">
        <button type="button" className="button" data-tone="primary" onClick={() => setCreating(true)}>
          Create a role
        </button>
      </PageHead>
      {remove.error !== null && <Problem error={remove.error} />}
      <Loaded query={roles}>
        {({ data }) => (
          <SimpleTable
            caption="Roles"
            rows={data}
            keyOf={({ name }) => name}
            columns={[
              { title: "Name", cell: ({ name }) => name },
              {
                title: "What it does",
                isWide: true,
                cell: (role: Role) => (
                  <>
                    {describeRole(role)}
                    <span className="quiet small"> {role.scopes.join(", ")}</span>
                  </>
                ),
              },
              {
                title: "Action",
                cell: ({ name, built_in }: Role) =>
                  built_in ? (
                    <span className="quiet">built in</span>
                  ) : (
                    <ActionButton
                      tone="danger"
                      isPending={remove.isPending && remove.variables === name}
                      onAct={() => remove.mutate(name)}
                    >
                      Delete {name}
                    </ActionButton>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      {isCreating && <NewRole onClose={() => setCreating(false)} />}
    </>
  );
}

function NewRole({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const { value, change, clear } = useDraft("role", () => ({ name: "", scopes: [] as string[] }));
  const create = useAction({
    mutationFn: () => bursar.roles.create(value as CreateRoleBody),
    onSuccess: async () => {
      clear();
      await queries.invalidateQueries({ queryKey: ["roles"] });
      onClose();
    },
  });
  return (
    <Confirm
      title="Create a role"
      verb="Create with the passkey"
      mutation={create}
      isReady={value.name !== "" && isRoleName(value.name) && value.scopes.length > 0}
      onConfirm={create.mutate}
      onClose={onClose}
    >
      <NamedScopes
        maxLength={40}
        hint="Lower-case letters, digits, - and _, such as treasury-clerk"
        nameFault={
          isRoleName(value.name)
            ? undefined
            : "Use lower-case letters, digits, - and _. A letter comes first."
        }
        value={value}
        error={create.error}
        onChange={change}
      />
      {value.scopes.includes("transactions:write") && !value.scopes.includes("wallets:read") && (
        <p className="notice small" data-tone="wait" role="status">
          Without <code>wallets:read</code>, people with this role name wallets by their ids, and do not see
          what a wallet has before they pay from it.
        </p>
      )}
    </Confirm>
  );
}

/** Also while nothing was typed. The service says so too, as a regular expression. */
function isRoleName(name: string): boolean {
  return name === "" || /^[a-z][a-z0-9_-]*$/.test(name);
}
