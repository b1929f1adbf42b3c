import { Plus, UserPlus } from 'lucide-react';
import { kindsBelow } from '../../api/resource-kinds.ts';
import type { TreePlace } from '../../api/tree.ts';
import { Button } from '../../parts/button.tsx';
import { Menu } from '../../parts/menu.tsx';
import { useSearch } from '../../url.ts';

/** Offers what can be created where one is: in the selected place, or beside the selected resource. */
export function NewMenu({ place }: { place: TreePlace }) {
  const [, change] = useSearch();
  const inside = kindsBelow(place.resource.word);
  const parent = place.path.at(-1);
  const kinds = inside.length > 0 || !parent ? inside : kindsBelow(parent.word);
  const where = inside.length > 0 ? place.resource : parent;
  return (
    <Menu
      label={`New in ${where?.name ?? 'this place'}`}
      trigger={<Button icon={Plus}>New</Button>}
      entries={[
        ...kinds.map(({ word, title, icon }) => ({
          id: word,
          text: `New ${title}`,
          icon,
          onAction: () => change({ new: word }, { isNewStep: true }),
        })),
        ...(place.resource.word === 'orgs' || place.resource.word === 'workspaces'
          ? [
              {
                id: 'colleague',
                text: 'New colleague',
                icon: UserPlus,
                startsGroup: true,
                onAction: () => change({ new: 'colleague' }, { isNewStep: true }),
              },
            ]
          : []),
      ]}
    />
  );
}
