import type { Person } from "@bursar/client";
import { useState } from "react";
import { useMe } from "../../session/use-me";
import { Confirm } from "../../ui/dialogs/confirm";
import { ActionButton } from "../../ui/forms/action-button";
import { ForeignText } from "../../ui/values/foreign-text";

interface DisablePersonProps {
  person: Person;
  isPending: boolean;
  onChange: (state: "active" | "disabled") => void;
}

/** Enables at once; disabling names the person and asks first. */
export function DisablePerson({ person, isPending, onChange }: DisablePersonProps) {
  const [isAsking, setAsking] = useState(false);
  const isOwn = useMe().data?.client.id === person.id;
  if (person.state === "disabled")
    return (
      <ActionButton tone="primary" isPending={isPending} onAct={() => onChange("active")}>
        Enable
      </ActionButton>
    );
  return (
    <>
      <ActionButton tone="danger" isPending={isPending} onAct={() => setAsking(true)}>
        Disable
      </ActionButton>
      {isAsking && (
        <Confirm
          title="Disable this person?"
          verb="Disable with the passkey"
          tone="danger"
          mutation={{ isPending, error: null }}
          onConfirm={() => {
            setAsking(false);
            onChange("disabled");
          }}
          onClose={() => setAsking(false)}
        >
          <p>
            <ForeignText text={person.name} /> (<ForeignText text={person.email} />) cannot log in any more,
            and all their sessions end.
          </p>
          {isOwn && (
            <p className="notice" data-tone="bad">
              This is you. You are logged out at once, and only somebody else can enable you again.
            </p>
          )}
        </Confirm>
      )}
    </>
  );
}
