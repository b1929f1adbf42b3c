import { kindOfWord } from '../../api/resource-kinds.ts';
import { type TreeRelation, useRelations } from '../../api/tree.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { Pending } from '../../components/pending.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';

/** The resources that this one refers to, and the resources that refer to it. */
export function RelationsTab({ id }: { id: string }) {
  const relations = useRelations(id);
  const { data } = relations;
  if (!data) return <Pending query={relations} />;
  if (data.names.length + data.total === 0)
    return <EmptyState title="No relations" text="No references to or from other resources." />;
  return (
    <div className="flex flex-col gap-5 p-4">
      <List title="References" relations={data.names} />
      <List title="Referenced by" relations={data.namedBy} />
      {data.total > data.namedBy.length && (
        <p className="text-muted">and {(data.total - data.namedBy.length).toLocaleString('en')} more</p>
      )}
    </div>
  );
}

function List({ title, relations }: { title: string; relations: readonly TreeRelation[] }) {
  if (relations.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3 className="eyebrow mb-1">{title}</h3>
      <ul>
        {relations.map(({ resource, pointer }) => {
          const { icon: Icon, title: kind } = kindOfWord(resource.word);
          return (
            <li key={`${resource.id} ${pointer}`} className="flex h-8 items-center gap-2 border-b border-line/60">
              <Icon aria-hidden size={14} className="shrink-0 text-muted" />
              <PlaceLink to={{ screen: 'resources', id: resource.id }} className="link truncate">
                {resource.name}
              </PlaceLink>
              <span className="shrink-0 text-muted">{kind}</span>
              <code className="ml-auto truncate text-faint">{pointer}</code>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
