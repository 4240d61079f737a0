import type { ReactNode } from "react";
import { useWallet } from "../../api/wallet-names";
import { Amount } from "../../ui/values/amount";
import { ForeignText } from "../../ui/values/foreign-text";

interface ChosenWalletProps {
  id: string;
  asset: string;
  /** The field of what is paid from. A frozen wallet receives, and does not pay. */
  pays: boolean;
  /** What is shown until the wallet is known. */
  children: ReactNode;
}

/** Which wallet was chosen, what it has, and whether it can pay, before anything is sent. */
export function ChosenWallet({ id, asset, pays, children }: ChosenWalletProps) {
  const wallet = useWallet(id);
  if (wallet === undefined) return children;
  const available = wallet.balances.find((balance) => balance.asset === asset)?.available;
  return (
    <>
      <ForeignText text={wallet.name} />
      {pays && asset !== "" && (
        <>
          , available: <Amount value={available ?? "0"} asset={asset} />
        </>
      )}
      {wallet.frozen && (
        <strong className="fault">
          {pays ? ". It is frozen: payments from it fail." : `. It is frozen: ${frozenPayee}.`}
        </strong>
      )}{" "}
      <code>{id}</code>
    </>
  );
}

/** Money goes in, and does not come out. */
export const frozenPayee = "what it receives stays there until it is unfrozen";
