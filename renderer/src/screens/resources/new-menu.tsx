import { Plus, UserPlus } from 'lucide-react';
import { OnResource } from '../../api/permissions.tsx';
import { kindsBelow, nounOf } from '../../api/resource-kinds.ts';
import type { TreePlace } from '../../api/tree.ts';
import { Button } from '../../components/button.tsx';
import { Menu } from '../../components/menu.tsx';
import { useSearch } from '../../url.ts';

/** Creates resources at the current place: below or next to the selected resource. */
export function NewMenu({ location }: { location: TreePlace }) {
  const [, change] = useSearch();
  const inside = kindsBelow(location.resource.word);
  const parent = location.path.at(-1);
  const kinds = inside.length > 0 || !parent ? inside : kindsBelow(parent.word);
  const where = inside.length > 0 ? location.resource : parent;
  return (
    <OnResource target={where}>
      <Menu
        label={`New in ${where?.name ?? 'this place'}`}
        trigger={
          <Button icon={Plus} needs="*.create">
            New
          </Button>
        }
        entries={[
          ...kinds.map(({ collection, title, icon }) => ({
            id: collection,
            text: `New ${title}`,
            icon,
            needs: `${nounOf(collection)}.create` as const,
            onAction: () => change({ new: collection }, { isNewStep: true }),
          })),
          ...(location.resource.word === 'orgs' || location.resource.word === 'workspaces'
            ? [
                {
                  id: 'colleague',
                  text: 'Invite a user',
                  icon: UserPlus,
                  needs: 'root' as const,
                  startsGroup: true,
                  onAction: () => change({ new: 'colleague' }, { isNewStep: true }),
                },
              ]
            : []),
        ]}
      />
    </OnResource>
  );
}
