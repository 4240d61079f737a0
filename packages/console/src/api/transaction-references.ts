import { useQuery } from "@tanstack/react-query";
import { bursar } from "./bursar";

/** The reference of a payment, which never changes; undefined while it is not known. Only rows in sight ask for it. */
export function useTransactionReference(id: string, isAllowed: boolean): string | undefined {
  return useQuery({
    queryKey: ["transaction-reference", id],
    enabled: isAllowed,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 600_000,
    retry: false,
    queryFn: async ({ signal }) => (await bursar.transactions.get(id, { signal })).reference,
  }).data;
}
