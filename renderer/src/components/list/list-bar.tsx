import { Bookmark, Columns3, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { prefer, preferences, type SavedView } from '../../preferences/preferences.ts';
import { type Search, useSearch } from '../../url.ts';
import { useValue } from '../../value-store.ts';
import { Button, IconButton } from '../button.tsx';
import type { GridColumn } from '../grid-layout.ts';
import { Menu } from '../menu.tsx';
import { NameDialog } from '../name-dialog.tsx';

/** Query parameters that filter a list; the others are positions in it. */
const NOT_OF_A_VIEW = new Set(['scope', 'sel', 'tab', 'with', 'replay']);

export interface ViewsMenuProps {
  name: string;
  /** Views for all users. */
  presets: readonly SavedView[];
}

/** Views of the list: predefined ones, and those saved in this browser. */
export function ViewsMenu({ name, presets }: ViewsMenuProps) {
  const saved = useValue(preferences).views[name] ?? [];
  const [search, change] = useSearch();
  const [isNaming, setNaming] = useState(false);
  const now = wordsOf(search);
  const keep = (views: readonly SavedView[]) => prefer({ views: { ...preferences.value.views, [name]: views } });
  const show = ({ search: savedSearch }: SavedView) => {
    const none = Object.fromEntries(Object.keys(now).map((parameter) => [parameter, undefined]));
    change({ ...none, sel: undefined, ...savedSearch }, { isNewStep: true });
  };
  const entryOf = (view: SavedView, group: string) => ({
    id: `${group} ${view.name}`,
    text: view.name,
    onAction: () => show(view),
  });
  return (
    <>
      <Menu
        label="Views"
        trigger={<Button icon={Bookmark}>Views</Button>}
        entries={[
          ...presets.map((view) => entryOf(view, 'preset')),
          ...saved.map((view, index) => ({ ...entryOf(view, 'saved'), startsGroup: index === 0 })),
          {
            id: 'keep',
            text: 'Save this view...',
            startsGroup: true,
            isDisabled: Object.keys(now).length === 0,
            onAction: () => setNaming(true),
          },
          ...saved.map((view) => ({
            id: `forget ${view.name}`,
            text: `Delete "${view.name}"`,
            icon: Trash2,
            isDanger: true,
            onAction: () => keep(saved.filter((candidate) => candidate !== view)),
          })),
        ]}
      />
      {isNaming && (
        <NameDialog
          title="Save this view"
          description="Saves the current search, sort order and filter in this browser."
          existingNames={saved.map((view) => view.name)}
          onClose={() => setNaming(false)}
          onName={(newName) => {
            keep([...saved.filter((view) => view.name !== newName), { name: newName, search: now }]);
            setNaming(false);
          }}
        />
      )}
    </>
  );
}

function wordsOf(search: Search): Record<string, string> {
  const parameters = Object.entries(search).flatMap(([parameter, value]) =>
    value === undefined || value === '' || NOT_OF_A_VIEW.has(parameter) ? [] : [[parameter, value]],
  );
  return Object.fromEntries(parameters);
}

export function ColumnsMenu<Row>({ name, columns }: { name: string; columns: readonly GridColumn<Row>[] }) {
  const hidden = useValue(preferences).hiddenColumns[name] ?? [];
  const toggle = (id: string) =>
    prefer({
      hiddenColumns: {
        ...preferences.value.hiddenColumns,
        [name]: hidden.includes(id) ? hidden.filter((hiddenId) => hiddenId !== id) : [...hidden, id],
      },
    });
  // The first one says what a row is, and is its link.
  const [, ...rest] = columns;
  return (
    <Menu
      label="Columns"
      trigger={<IconButton icon={Columns3} label="Columns" />}
      entries={rest.map(({ id, header }) => ({
        id,
        text: typeof header === 'string' ? header : id,
        isOn: !hidden.includes(id),
        onAction: () => toggle(id),
      }))}
    />
  );
}

/** The columns that one has hidden. */
export function useHiddenColumns(name: string): readonly string[] | undefined {
  return useValue(preferences).hiddenColumns[name];
}
