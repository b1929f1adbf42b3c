import { Check, EllipsisVertical, type LucideIcon } from 'lucide-react';
import type { ReactElement } from 'react';
import { Menu as AriaMenu, MenuItem, MenuTrigger, Popover, Separator } from 'react-aria-components';
import { type Need, useMissingOf } from '../api/permissions.tsx';
import { IconButton } from './button.tsx';

export interface MenuEntry {
  id: string;
  text: string;
  icon?: LucideIcon;
  isDanger?: boolean;
  isDisabled?: boolean;
  /** The permission that the entry requires. Without it, the entry is disabled and gives the reason. */
  needs?: Need;
  /** The current state of an entry that can be on or off. */
  isOn?: boolean;
  /** A line above it. */
  startsGroup?: boolean;
  onAction(): void;
}

export interface MenuProps {
  label: string;
  entries: readonly MenuEntry[];
  /** A button of react-aria that opens it. Default: three dots. */
  trigger?: ReactElement;
}

export function Menu({ label, entries, trigger }: MenuProps) {
  const missing = useMissingOf();
  return (
    <MenuTrigger>
      {trigger ?? <IconButton icon={EllipsisVertical} label={label} />}
      <Popover offset={4} className="min-w-44 rounded-md border border-line bg-overlay p-1 shadow-pop">
        <AriaMenu aria-label={label} className="outline-none">
          {entries.flatMap(({ id, text, icon: Icon, isDanger, isDisabled, needs, isOn, startsGroup, onAction }) => [
            startsGroup && <Separator key={`${id}-line`} className="my-1 h-px bg-line" />,
            <MenuItem
              key={id}
              id={id}
              isDisabled={isDisabled === true || missing(needs) !== undefined}
              onAction={onAction}
              textValue={text}
              className={`flex cursor-default items-center gap-2 rounded px-2 py-1 outline-none data-[disabled]:opacity-45 data-[focused]:bg-accent-soft ${isDanger ? 'text-error' : ''}`}
            >
              {isOn ? (
                <Check aria-hidden size={14} />
              ) : Icon ? (
                <Icon aria-hidden size={14} strokeWidth={1.8} />
              ) : (
                <span className="w-3.5" />
              )}
              <span className="flex-1">
                {text}
                {missing(needs) !== undefined && <span className="block text-small">{missing(needs)}</span>}
                {isOn !== undefined && <span className="sr-only">{isOn ? ', shown' : ', hidden'}</span>}
              </span>
            </MenuItem>,
          ])}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  );
}
