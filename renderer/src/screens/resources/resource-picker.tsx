import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ChevronDown, X } from 'lucide-react';
import { useState } from 'react';
import {
  Button,
  ComboBox,
  FieldError,
  Group,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Text,
} from 'react-aria-components';
import type { TypeWord } from '../../../../server/model/type-words.ts';
import { kindOfWord } from '../../api/resource-kinds.ts';
import { searchOptions, type TreeNode, usePlace } from '../../api/tree.ts';

const MAX_OFFERED = 50;

export interface ResourcePickerProps {
  label: string;
  isLabelHidden?: boolean;
  collections: readonly TypeWord[];
  /** Id of the resource that all suggestions are below. */
  scope?: string | undefined;
  /** Id of the selected resource. */
  value: string | undefined;
  onChange(node: TreeNode | undefined): void;
  /** True if the selection can be removed. */
  isClearable?: boolean;
  error?: string | undefined;
}

/** Chooses a resource by a part of its name; in a large world only a few are read. */
export function ResourcePicker({
  label,
  isLabelHidden,
  collections,
  scope,
  value,
  onChange,
  isClearable,
  error,
}: ResourcePickerProps) {
  // The name of the selection is already known; if it arrived later, the list would open again.
  const [picked, setPicked] = useState<TreeNode>();
  const location = usePlace(value).data;
  const chosen = picked !== undefined && picked.id === value ? picked : location?.resource;
  const where = location?.path.map(({ name }) => name);
  const [typed, setTyped] = useState<string>();
  const text = chosen ? chosen.name : (value ?? '');
  const key = value ?? null;
  // A value that arrives while the field has the focus would close the suggestions, or mix its name with what the user types.
  const [atFocus, setAtFocus] = useState<{ text: string; key: string | null }>();
  const { data: found, isPlaceholderData } = useQuery({
    ...searchOptions({ q: typed, collections, scope, limit: MAX_OFFERED }),
    placeholderData: keepPreviousData,
  });
  const above = new Map(found?.above.map((node) => [node.id, node]));
  return (
    <ComboBox
      items={found?.rows ?? []}
      inputValue={typed ?? atFocus?.text ?? text}
      onInputChange={(next) => setTyped(next)}
      selectedKey={typed === undefined ? (atFocus ?? { key }).key : null}
      onSelectionChange={(key) => {
        const node = found?.rows.find(({ id }) => id === key);
        // If the user leaves the field without a selection, the previous selection stays.
        if (node) {
          setPicked(node);
          onChange(node);
        }
        setTyped(undefined);
        setAtFocus(undefined);
      }}
      onFocus={() => setAtFocus({ text, key })}
      onBlur={() => {
        setTyped(undefined);
        setAtFocus(undefined);
      }}
      menuTrigger="focus"
      allowsEmptyCollection
      isInvalid={error !== undefined}
      className="flex flex-col gap-1"
    >
      <Label className={isLabelHidden ? 'sr-only' : 'text-small text-muted'}>{label}</Label>
      <Group className="field-frame flex items-center">
        <Input placeholder="Type a part of the name" className="min-w-0 flex-1 bg-transparent px-2 py-1 text-text" />
        {isClearable && value !== undefined && (
          // Not the combo box's own button, which only opens it.
          <Button
            slot={null}
            aria-label={`Clear ${label}`}
            onPress={() => onChange(undefined)}
            className="flex size-6 shrink-0 items-center justify-center"
          >
            <X aria-hidden size={13} className="text-muted" />
          </Button>
        )}
        <Button aria-label={`Offer ${label}`} className="flex size-6 shrink-0 items-center justify-center">
          <ChevronDown aria-hidden size={13} className="text-muted" />
        </Button>
      </Group>
      <FieldError className="text-small text-error">{error}</FieldError>
      {!isLabelHidden && where !== undefined && where.length > 0 && (
        <Text slot="description" className="text-small break-words text-faint">
          {where.join(' / ')}
        </Text>
      )}
      <Popover
        offset={4}
        className="max-h-72 min-w-(--trigger-width) overflow-auto rounded-md border border-line bg-overlay p-1 shadow-pop"
      >
        <ListBox<TreeNode>
          // The options are those of the previous input, and about to change.
          data-earlier={isPlaceholderData || undefined}
          className="outline-none data-[earlier]:opacity-60"
          renderEmptyState={() => <p className="px-2 py-1 text-muted">No match.</p>}
        >
          {(node) => (
            <ListBoxItem
              id={node.id}
              textValue={node.name}
              className="flex flex-col rounded px-2 py-1 outline-none data-[focused]:bg-accent-soft data-[selected]:font-medium"
            >
              <Text slot="label">{node.name}</Text>
              <Text slot="description" className="text-small font-normal text-muted">
                {kindOfWord(node.word).title} in {placeText(node, above)}
              </Text>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}

/** Returns the location of a resource: `demo / website / development`. */
function placeText(node: TreeNode, above: ReadonlyMap<string, TreeNode>): string {
  const names: string[] = [];
  for (let at = above.get(node.parent ?? ''); at && at.word !== 'orgs'; at = above.get(at.parent ?? ''))
    names.unshift(at.name);
  return [node.fqon, ...names].join(' / ');
}
