import { RawJson } from "../panels/raw-json";
import { CloseRow } from "./close-row";
import { Modal } from "./modal";

/** An object of a list as the service sent it, over the page. */
export function JsonModal({ title, value, onClose }: { title: string; value: unknown; onClose: () => void }) {
  return (
    <Modal title={title} onClose={onClose}>
      <RawJson value={value} isOpen />
      <CloseRow onClose={onClose} />
    </Modal>
  );
}
