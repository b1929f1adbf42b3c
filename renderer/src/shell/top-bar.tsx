import { Copy as CopyIcon, Link, Search } from 'lucide-react';
import { Button } from 'react-aria-components';
import { IconButton, Key } from '../parts/button.tsx';
import { Copy, copyText } from '../parts/copy.tsx';
import { Menu } from '../parts/menu.tsx';
import { ActiveRules } from './active-rules.tsx';
import { Brand } from './brand.tsx';
import { PlaceLink } from './place-link.tsx';
import { ScopePicker } from './scope-picker.tsx';
import { UserMenu } from './user-menu.tsx';

export interface Address {
  name: string;
  url: string;
}

export interface TopBarProps {
  instance: string;
  addresses: readonly Address[];
  onPalette(): void;
}

const MOD = /mac/i.test(navigator.platform) ? 'Cmd' : 'Ctrl';

/** Which instance this is, where it listens, what everything is narrowed to, and the palette. In large type there is no room for ports. */
export function TopBar({ instance, addresses, onPalette }: TopBarProps) {
  return (
    <header className="col-span-full flex items-center gap-4 border-b border-line bg-panel px-3.5">
      <PlaceLink
        to={{ screen: 'home' }}
        className="flex shrink-0 items-center gap-2 rounded-md font-semibold tracking-tight"
      >
        <Brand />
        {instance}
      </PlaceLink>
      <span aria-hidden className="h-4 w-px bg-line-strong" />
      <ScopePicker />
      <ul aria-label="Addresses" className="hidden items-center gap-1.5 lg:flex [[data-presenting]_&]:hidden">
        {addresses.map(({ name, url }) => (
          <li
            key={name}
            className="mono flex h-6 items-center rounded-full border border-line bg-raised pl-2.5 text-muted"
            title={url}
          >
            <span className="whitespace-nowrap">
              {portOf(url)} {name}
            </span>
            <Copy text={url} what={`address of ${name}`} className="scale-85" />
          </li>
        ))}
      </ul>
      <Menu
        label="Addresses"
        trigger={<IconButton icon={Link} label="Addresses" className="lg:hidden [[data-presenting]_&]:inline-flex" />}
        entries={addresses.map(({ name, url }) => ({
          id: name,
          text: `Copy ${url} (${name})`,
          icon: CopyIcon,
          onAction: () => void copyText(url, `address of ${name}`),
        }))}
      />
      <ActiveRules />
      <Button
        onPress={onPalette}
        className="ml-auto flex h-7 w-64 shrink items-center gap-2 rounded-md border border-line-strong bg-raised px-2.5 text-faint data-[hovered]:border-muted"
      >
        <Search aria-hidden size={13} />
        <span className="truncate">Search or run a command</span>
        <span className="ml-auto flex shrink-0 gap-1">
          <Key>{MOD} K</Key>
        </span>
      </Button>
      <UserMenu />
    </header>
  );
}

function portOf(url: string): string {
  try {
    const { port, host } = new URL(url);
    return port === '' ? host : `:${port}`;
  } catch {
    return url;
  }
}
