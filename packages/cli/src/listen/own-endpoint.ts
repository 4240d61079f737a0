import { type Bursar, isBursarError } from "@bursar/client";

/** An endpoint for a receiver on this machine. */
export interface OwnEndpoint {
  id: string;
  secret: string;
  /** With a client that Ctrl-C does not end. */
  remove: (bursar: Bursar) => Promise<void>;
}

type Kinds = NonNullable<Parameters<Bursar["webhookEndpoints"]["create"]>[0]["events"]>;

const description = "bursar webhooks listen";

/**
 * Registers a URL. An endpoint that an earlier run left behind is used again with a new secret. Undefined if the service refuses the
 * address, as one that is not a sandbox does.
 */
export async function registerEndpoint(
  { webhookEndpoints }: Bursar,
  url: string,
  kinds: readonly string[],
): Promise<OwnEndpoint | undefined> {
  const events = (kinds.length === 0 ? ["*"] : [...kinds]) as Kinds;
  const { data } = await webhookEndpoints.list({ limit: 200 }).page();
  const earlier = data.find((endpoint) => endpoint.url === url && endpoint.state !== "disabled");
  try {
    const { id, secret } =
      earlier === undefined
        ? await webhookEndpoints.create({ url, events, description })
        : await reuse(webhookEndpoints, earlier.id, events);
    return {
      id,
      secret: secret ?? "",
      remove: async (bursar) => {
        await bursar.webhookEndpoints.delete(id);
      },
    };
  } catch (error) {
    if (isBursarError(error) && error.outcome === "refused" && (error.status === 400 || error.status === 422))
      return undefined;
    throw error;
  }
}

async function reuse(endpoints: Bursar["webhookEndpoints"], id: string, events: Kinds) {
  await endpoints.change(id, { events });
  const { secret } = await endpoints.rotateSecret(id, { overlap_seconds: 0 });
  return { id, secret };
}
