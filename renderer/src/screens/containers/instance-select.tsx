import type { PlatformRecord } from '../../api/use-world.ts';
import { Select } from '../../components/fields.tsx';
import { shortId, useInstances } from './use-instances.ts';

const ANY = { id: 'any', text: 'First instance' };

export interface InstanceSelectProps {
  record: PlatformRecord;
  /** Its id; undefined: the first one. */
  value: string | undefined;
  onChange(instance: string | undefined): void;
}

/** A selection among the running instances. Nothing is shown if there is no choice. */
export function InstanceSelect({ record, value = ANY.id, onChange }: InstanceSelectProps) {
  const running = useInstances(record.id).data?.filter(({ state }) => state === 'running') ?? [];
  if (running.length < 2) return null;
  return (
    <Select
      label="Instance"
      isLabelHidden
      options={[ANY, ...running.map(({ id }) => ({ id, text: shortId(id) }))]}
      value={value}
      onChange={(id) => onChange(id === ANY.id ? undefined : id)}
      className="w-36"
    />
  );
}
