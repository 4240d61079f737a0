import type { Passkey } from "@bursar/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { bursar } from "../api/bursar";
import { useAction } from "../api/use-action";
import { Confirm } from "../ui/dialogs/confirm";
import { ActionButton } from "../ui/forms/action-button";
import { TextField } from "../ui/forms/text-field";
import { useDraft } from "../ui/forms/use-draft";
import { Loaded } from "../ui/panels/loaded";
import { Problem } from "../ui/panels/problem";
import { SimpleTable } from "../ui/tables/simple-table";
import { ForeignText } from "../ui/values/foreign-text";
import { Time } from "../ui/values/time";
import { createPasskey, deviceName, explained, registerAlone } from "./passkeys";
import { useMe } from "./use-me";

const queryKey = ["own-passkeys"];

export function OwnPasskeys() {
  const queries = useQueryClient();
  const passkeys = useQuery({ queryKey, queryFn: () => bursar.ownPasskeys.list() });
  const [renamed, setRenamed] = useState<Passkey>();
  const [removed, setRemoved] = useState<Passkey>();
  const tenantName = useMe().data?.tenant.name ?? "";
  const add = useAction({
    mutationFn: explained(() =>
      registerAlone(async () => {
        const made = await createPasskey(await bursar.ownPasskeys.prepare(), tenantName);
        return await bursar.ownPasskeys.add({ name: deviceName(), ...made });
      }),
    ),
    onSuccess: () => queries.invalidateQueries({ queryKey }),
  });
  return (
    <section className="stack" aria-labelledby="passkeys">
      <h2 id="passkeys">Passkeys</h2>
      <Loaded query={passkeys}>
        {({ data }) => (
          <>
            {data.length === 1 && (
              <p className="notice" data-tone="wait">
                You have one passkey. Add a second one, on another device or on a security key. If you lose
                your only passkey, an administrator or the operator must recover your account.
              </p>
            )}
            <SimpleTable
              caption="Passkeys"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                { title: "Name", cell: ({ name }) => <ForeignText text={name} /> },
                { title: "Added", cell: ({ created_at }) => <Time at={created_at} /> },
                {
                  title: "Last used",
                  cell: ({ last_used_at }) => (last_used_at === null ? "never" : <Time at={last_used_at} />),
                },
                {
                  title: "Actions",
                  cell: (passkey) => (
                    <div className="row">
                      <button type="button" className="button small" onClick={() => setRenamed(passkey)}>
                        Rename
                      </button>
                      {data.length > 1 && (
                        <button type="button" className="button small" onClick={() => setRemoved(passkey)}>
                          Remove
                        </button>
                      )}
                    </div>
                  ),
                },
              ]}
            />
          </>
        )}
      </Loaded>
      {add.error !== null && <Problem error={add.error} />}
      <div className="row">
        <ActionButton isPending={add.isPending} onAct={() => add.mutate()}>
          Add a passkey
        </ActionButton>
        <span className="quiet small">
          Your device creates it, and then you confirm with one that you have.
        </span>
      </div>
      {renamed !== undefined && <RenamePasskey passkey={renamed} onClose={() => setRenamed(undefined)} />}
      {removed !== undefined && <RemovePasskey passkey={removed} onClose={() => setRemoved(undefined)} />}
    </section>
  );
}

interface DialogProps {
  passkey: Passkey;
  onClose: () => void;
}

function RenamePasskey({ passkey, onClose }: DialogProps) {
  const queries = useQueryClient();
  const draft = useDraft<{ name?: string }>(`passkey.${passkey.id}`, () => ({}));
  const name = draft.value.name ?? passkey.name;
  const rename = useAction({
    mutationFn: () => bursar.ownPasskeys.rename(passkey.id, { name: name.trim() }),
    onSuccess: async () => {
      draft.clear();
      await queries.invalidateQueries({ queryKey });
      onClose();
    },
  });
  return (
    <Confirm
      title="Rename the passkey"
      verb="Rename with a passkey"
      mutation={rename}
      isReady={name.trim() !== ""}
      onConfirm={rename.mutate}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        onValue={(name) => draft.change({ name })}
        maxLength={64}
        required
      />
    </Confirm>
  );
}

function RemovePasskey({ passkey, onClose }: DialogProps) {
  const queries = useQueryClient();
  const remove = useAction({
    mutationFn: () => bursar.ownPasskeys.remove(passkey.id),
    onSuccess: async () => {
      await queries.invalidateQueries();
      onClose();
    },
  });
  return (
    <Confirm
      title="Remove the passkey"
      verb="Remove with a passkey"
      tone="danger"
      mutation={remove}
      onConfirm={remove.mutate}
      onClose={onClose}
    >
      <p>
        <ForeignText text={passkey.name} /> logs in no more, and the sessions that were opened with it end.
      </p>
    </Confirm>
  );
}
