import type { Person } from "@bursar/client";
import { useState } from "react";
import { useMe } from "../../session/use-me";
import { Confirm } from "../../ui/dialogs/confirm";
import { ActionButton } from "../../ui/forms/action-button";
import { ForeignText } from "../../ui/values/foreign-text";
import { Enable } from "../clients/enable";
import { StoppedEndpoints, useEndpointsOf } from "../webhooks/stopped-endpoints";

interface DisablePersonProps {
  person: Person;
  isPending: boolean;
  onChange: (state: "active" | "disabled") => void;
}

/** Both ask first, and name the person. */
export function DisablePerson({ person, isPending, onChange }: DisablePersonProps) {
  const [isAsking, setAsking] = useState(false);
  const endpoints = useEndpointsOf(person.id, isAsking);
  const isOwn = useMe().data?.client.id === person.id;
  if (person.state === "disabled")
    return (
      <Enable
        id={person.id}
        name={person.name}
        kind="person"
        isPending={isPending}
        onEnable={() => onChange("active")}
      />
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
          isChecking={endpoints.isLoading}
          onConfirm={() => {
            setAsking(false);
            onChange("disabled");
          }}
          onClose={() => setAsking(false)}
        >
          <p>
            <ForeignText text={person.name} /> (<ForeignText text={person.email} />) cannot log in any more,
            and all their sessions end. Their open orders are cancelled, and their payments that were not
            processed yet wait until they are enabled again. What they have approved and still waits needs
            another approver: their approvals of it do not count any more, also if they are enabled again.
          </p>
          <StoppedEndpoints query={endpoints} />
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
