import { type CreateChangeRequestBody, isBursarError } from "@bursar/client";
import { Link } from "@tanstack/react-router";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { ActionButton } from "../forms/action-button";
import { Problem } from "../panels/problem";

interface RefusedChangeProps {
  error: unknown;
  /** The same change as a change request. */
  body: CreateChangeRequestBody | undefined;
}

/** Why a change was refused. If only others must approve it, it can be requested from them at once. */
export function RefusedChange({ error, body }: RefusedChangeProps) {
  const request = useAction({
    mutationFn: (wanted: CreateChangeRequestBody) => bursar.changeRequests.create(wanted),
  });
  if (error == null) return null;
  if (request.data !== undefined)
    return (
      <p className="notice" data-tone="wait" role="status">
        Requested:{" "}
        <Link to="/change-requests/$id" params={{ id: request.data.id }}>
          {request.data.id}
        </Link>
      </p>
    );
  return (
    <>
      <Problem error={error} />
      {isBursarError(error) && error.code === "CHANGE_REQUEST_REQUIRED" && body !== undefined && (
        <div className="row">
          <ActionButton isPending={request.isPending} onAct={() => request.mutate(body)}>
            Request it from the others
          </ActionButton>
        </div>
      )}
      {request.error !== null && <Problem error={request.error} />}
    </>
  );
}
