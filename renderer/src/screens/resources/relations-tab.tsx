import { useMemo } from 'react';
import { kindOf } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';

interface Relation {
  record: PlatformRecord;
  /** The pointer of the member that names it. */
  where: string;
}

/** Which resources this one names, and which name it. */
export function RelationsTab({ record, records }: { record: PlatformRecord; records: readonly PlatformRecord[] }) {
  const { named, naming } = useMemo(() => relationsOf(record, records), [record, records]);
  if (named.length + naming.length === 0)
    return <EmptyState title="No relations" text="It names no other resource, and none names it." />;
  return (
    <div className="flex flex-col gap-5 p-4">
      <List title="It names" relations={named} />
      <List title="It is named by" relations={naming} />
    </div>
  );
}

function List({ title, relations }: { title: string; relations: readonly Relation[] }) {
  if (relations.length === 0) return null;
  return (
    <section>
      <h3 className="eyebrow mb-1">{title}</h3>
      <ul>
        {relations.map(({ record, where }) => {
          const { icon: Icon, title: kind } = kindOf(record);
          return (
            <li key={`${record.id} ${where}`} className="flex h-8 items-center gap-2 border-b border-line/60">
              <Icon aria-hidden size={14} className="text-muted" />
              <PlaceLink to={{ screen: 'resources', id: record.id }}>{record.name}</PlaceLink>
              <span className="text-muted">{kind}</span>
              <code className="ml-auto truncate text-faint">{where}</code>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function relationsOf(record: PlatformRecord, records: readonly PlatformRecord[]) {
  const byId = new Map(records.map((other) => [other.id, other]));
  const named = [...idsIn(record.properties, '/properties')].flatMap(([id, where]) => {
    const other = byId.get(id);
    return other && id !== record.id ? [{ record: other, where }] : [];
  });
  const naming = records.flatMap((other) => {
    const where = other.id === record.id ? undefined : idsIn(other.properties, '/properties').get(record.id);
    return where === undefined ? [] : [{ record: other, where }];
  });
  return { named, naming };
}

/** The ids in a value, with the pointer where each stands first. */
function idsIn(value: unknown, pointer: string, found = new Map<string, string>()): Map<string, string> {
  if (typeof value === 'string') {
    if (UUID.test(value) && !found.has(value)) found.set(value, pointer);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) idsIn(member, `${pointer}/${name}`, found);
  }
  return found;
}
