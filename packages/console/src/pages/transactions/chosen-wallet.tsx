import { queryOptions, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { bursar } from "../../api/bursar";
import { Amount } from "../../ui/values/amount";
import { ForeignText } from "../../ui/values/foreign-text";

interface ChosenWalletProps {
  id: string;
  asset: string;
  /** The field of what is paid from. A frozen wallet receives, and does not pay. */
  pays: boolean;
  /** The wallet that is meant if nothing was typed. What only has its name is not shown. */
  walletRole?: "primary" | "settlement";
  /** What is shown until the wallet is known. */
  children: ReactNode;
}

const walletQuery = (id: string) =>
  queryOptions({
    queryKey: ["wallet", id],
    queryFn: ({ signal }) => bursar.wallets.get(id, { signal }),
  });

/** Whether the wallet that would pay cannot. One that only has the name of the primary wallet is not the one that pays by default. */
export function useIsFrozen(id: string | undefined, byDefault: boolean): boolean {
  const { data: wallet } = useQuery({ ...walletQuery(id ?? ""), enabled: id !== undefined });
  return wallet?.frozen === true && (!byDefault || wallet.role === "primary");
}

/** Which wallet was chosen, what it has, and whether it can pay, before anything is sent. */
export function ChosenWallet({ id, asset, pays, walletRole, children }: ChosenWalletProps) {
  const { data: wallet } = useQuery(walletQuery(id));
  if (wallet === undefined || (walletRole !== undefined && wallet.role !== walletRole)) return children;
  const available = wallet.balances.find((balance) => balance.asset === asset)?.available;
  return (
    <>
      <ForeignText text={wallet.name} />
      {pays && asset !== "" && (
        <>
          , available: <Amount value={available ?? "0"} asset={asset} />
        </>
      )}
      {pays && wallet.frozen && <strong className="fault"> It is frozen: payments from it fail.</strong>}{" "}
      <code>{id}</code>
    </>
  );
}
