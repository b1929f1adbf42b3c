import { useState } from 'react';
import { type PlatformRecord, useWorld } from '../../api/use-world.ts';
import { Switch } from '../../components/fields.tsx';
import { KeyValue } from '../../components/key-value.tsx';
import { Pending } from '../../components/pending.tsx';
import { Badge } from '../../components/state.tsx';
import { isSecretName } from '../resources/secret-field.tsx';
import { typedPath } from './container-place.ts';
import { isJob } from './container-status.ts';

const MASK = '\u2022'.repeat(8);

/** The variables that instances get, inherited ones too (D-111); what looks secret is covered. */
export function EnvTab({ record }: { record: PlatformRecord }) {
  const [isOpen, setOpen] = useState(false);
  const path = `${typedPath(record, isJob(record) ? 'jobs' : 'containers')}/env`;
  const merged = useWorld<Record<string, string>>(path);
  if (!merged.data) return <Pending query={merged} label="Reading the environment" rows={4} />;
  const ownNames = new Set(Object.keys(Object(record.properties.env)));
  const names = Object.keys(merged.data).sort();
  const covered = names.filter(isSecretName);
  if (names.length === 0) {
    return <p className="px-4 py-3 text-muted">No variables, neither set here nor inherited.</p>;
  }
  return (
    <div className="flex flex-col gap-2 px-4 py-2">
      <div className="flex items-center justify-between gap-3">
        <p className="text-muted">Inherited values apply from the next start.</p>
        {covered.length > 0 && (
          <Switch isSelected={isOpen} onChange={setOpen}>
            Show secret values
          </Switch>
        )}
      </div>
      <KeyValue
        nameWidth={200}
        rows={names.map((name) => {
          const value = merged.data[name] ?? '';
          return {
            name,
            isMono: true,
            copy: value,
            value: (
              <span className="flex flex-wrap items-center gap-2">
                <span className="min-w-0 break-all">{covered.includes(name) && !isOpen ? MASK : value}</span>
                {!ownNames.has(name) && <Badge>inherited</Badge>}
              </span>
            ),
          };
        })}
      />
    </div>
  );
}
