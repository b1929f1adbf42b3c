import { Copy as CopyIcon, FastForward, Link, Search, Waypoints, X } from 'lucide-react';
import { Button } from 'react-aria-components';
import { describeFault, isUsedUp } from '../../../server/model/fault-rule.ts';
import { type OutboundRule, OWN_CRM } from '../../../server/model/outbound-rule.ts';
import { send } from '../api/client.ts';
import { keys } from '../api/query-client.ts';
import { useChange } from '../api/use-change.ts';
import { useRead } from '../api/use-read.ts';
import { counted, durationText } from '../components/amounts.ts';
import { IconButton, Key } from '../components/button.tsx';
import { Copy, copyText } from '../components/copy.tsx';
import { Menu } from '../components/menu.tsx';
import { effectOf } from '../screens/leads/rule-words.ts';
import { useOutboundRules } from '../screens/leads/use-outbound-rules.ts';
import { Brand } from './brand.tsx';
import { useInstance } from './instance.ts';
import { PlaceLink } from './place-link.tsx';
import { ScopePicker } from './scope-picker.tsx';
import { UserMenu } from './user-menu.tsx';

export interface Address {
  name: string;
  url: string;
}

export interface TopBarProps {
  addresses: readonly Address[];
  onPalette(): void;
}

const MOD = /mac/i.test(navigator.platform) ? 'Cmd' : 'Ctrl';

/** Shows the addresses, the scope and the palette. In large type there is no space for ports. */
export function TopBar({ addresses, onPalette }: TopBarProps) {
  return (
    <header className="col-span-full flex min-w-0 items-center gap-4 border-b max-sm:gap-1.5 border-line bg-panel px-3.5">
      <PlaceLink
        to={{ screen: 'home' }}
        className="flex shrink-0 items-center gap-2 rounded-md font-semibold tracking-tight"
      >
        <Brand />
        <span className="max-sm:sr-only">Terrarium</span>
      </PlaceLink>
      <InstanceName />
      <ScopePicker />
      <ul aria-label="Addresses" className="hidden items-center gap-1.5 xl:flex [[data-presenting]_&]:hidden">
        {addresses.map(({ name, url }) => (
          <li
            key={name}
            className="mono flex h-6 items-center rounded-full border border-line bg-raised pl-2.5 text-muted"
            title={url}
          >
            <span className="whitespace-nowrap">
              {name} {portOf(url)}
            </span>
            <Copy text={url} subject={`address of ${name}`} className="scale-85" />
          </li>
        ))}
      </ul>
      <Menu
        label="Addresses"
        trigger={<IconButton icon={Link} label="Addresses" className="xl:hidden [[data-presenting]_&]:inline-flex" />}
        entries={addresses.map(({ name, url }) => ({
          id: name,
          text: `Copy ${url} (${name})`,
          icon: CopyIcon,
          onAction: () => void copyText(url, `address of ${name}`),
        }))}
      />
      <ActiveRules />
      <Simulation />
      <Button
        onPress={onPalette}
        className="ml-auto flex h-7 w-72 shrink items-center gap-2 rounded-md max-md:w-8 max-md:shrink-0 max-md:justify-center max-md:px-0 border border-line-strong bg-raised px-2.5 text-faint data-[hovered]:border-muted"
      >
        <Search aria-hidden size={13} className="shrink-0" />
        <span className="truncate max-md:sr-only">Search or run a command</span>
        <span className="ml-auto flex shrink-0 gap-1 max-md:hidden">
          <Key>{MOD} K</Key>
        </span>
      </Button>
      <UserMenu />
    </header>
  );
}

/** Shows the name of this instance, to tell several apart. */
function InstanceName() {
  const { name, hue } = useInstance();
  return (
    <span className="flex max-w-36 min-w-0 items-center gap-1.5 max-sm:hidden lg:shrink-0" title={`Instance ${name}`}>
      <span aria-hidden className="h-4 w-1.5 shrink-0 rounded-sm" style={{ background: `hsl(${hue} 65% 50%)` }} />
      <span className="truncate text-muted">{name}</span>
    </span>
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

/** More are counted only. */
const MAX_SHOWN = 2;

const textOf = (rule: OutboundRule) => `${rule.host === OWN_CRM ? 'CRM' : `${rule.host}:`} ${effectOf(rule)}`;

function ActiveRules() {
  const { query, change } = useOutboundRules();
  const rules = query.data?.rules ?? [];
  const active = rules.filter(({ enabled }) => enabled);
  if (active.length === 0) return null;
  const end = (id: string) => change.mutate(rules.map((rule) => (rule.id === id ? { ...rule, enabled: false } : rule)));
  return (
    <ul aria-label="Outbound rules that are on" className="flex min-w-0 items-center gap-1.5">
      {active.slice(0, MAX_SHOWN).map((rule) => (
        <li
          key={rule.id}
          className="flex h-6 min-w-0 items-center rounded-full border border-warn/50 bg-warn-soft pl-2 text-small text-warn"
        >
          <Waypoints aria-hidden size={12} className="mr-1.5 shrink-0" />
          <PlaceLink to={{ screen: 'leads', search: { tab: 'rules' } }} className="truncate hover:underline">
            {textOf(rule)}
          </PlaceLink>
          <IconButton
            icon={X}
            label={`Disable the rule: ${textOf(rule)}`}
            needs="root"
            isDisabled={change.isPending}
            onPress={() => end(rule.id)}
            className="size-6 scale-85"
          />
        </li>
      ))}
      {active.length > MAX_SHOWN && (
        <li className="shrink-0 text-small text-warn">
          <PlaceLink to={{ screen: 'leads', search: { tab: 'rules' } }} className="hover:underline">
            {active.length - MAX_SHOWN} more
          </PlaceLink>
        </li>
      )}
    </ul>
  );
}

/** Shows fault rules that still apply and the time by which the clock is ahead, with a button that ends both. */
function Simulation() {
  const rules = useRead(keys.simulation, '/inspect/faults').data?.filter((rule) => !isUsedUp(rule)) ?? [];
  const aheadMs = useRead(keys.simulation, '/inspect/clock').data?.aheadMs ?? 0;
  const end = useChange(
    async () => {
      await send('DELETE', '/inspect/faults');
      await send('DELETE', '/inspect/clock');
    },
    { topic: keys.simulation, refusal: 'The faults did not end: ' },
  );
  const texts = [
    ...(rules.length > 0 ? [counted(rules.length, 'fault')] : []),
    ...(aheadMs > 0 ? [`clock +${durationText(aheadMs)}`] : []),
  ];
  if (texts.length === 0) return null;
  return (
    <p
      role="status"
      aria-label="Simulated faults and time"
      title={rules.map(describeFault).join('\n')}
      className="flex h-6 min-w-0 shrink-0 items-center rounded-full border border-warn/50 bg-warn-soft pl-2 text-small text-warn"
    >
      <FastForward aria-hidden size={12} className="mr-1.5 shrink-0" />
      {texts.join(', ')}
      <IconButton
        icon={X}
        label="End simulated faults and time"
        needs="root"
        isDisabled={end.isPending}
        onPress={() => end.mutate()}
        className="size-6 scale-85"
      />
    </p>
  );
}
