import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from './button.tsx';
import { Pending, type PendingProps } from './pending.tsx';

export interface PendingDetailProps extends Pick<PendingProps, 'query'> {
  onClose(): void;
  children?: ReactNode;
}

/** Replaces a detail that is not loaded: grey bars, or the reason and a button that closes it. */
export function PendingDetail({ query, onClose, children }: PendingDetailProps) {
  return (
    <>
      <div className="flex justify-end p-1.5">
        <IconButton icon={X} label="Close the detail" onPress={onClose} />
      </div>
      {children || <Pending query={query} />}
    </>
  );
}
