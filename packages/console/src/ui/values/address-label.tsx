import { useListedAddresses } from "../../api/listed-addresses";
import { ForeignText } from "./foreign-text";

/** The label of an address on the list of destinations; nothing if it is not listed. */
export function AddressLabel({ address, network }: { address: string; network: string }) {
  const { listed } = useListedAddresses();
  // The list has addresses in the form that is compared: those of EVM networks differ in case by their checksum alone.
  const compared = /^0x/i.test(address) ? address.toLowerCase() : address;
  const found = listed?.find((one) => one.network === network && one.address === compared);
  if (found === undefined) return null;
  return (
    <>
      <ForeignText text={found.label} limit={60} />
      {found.state === "waiting" && " (listed, and not active yet)"}{" "}
    </>
  );
}
