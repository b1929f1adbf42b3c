import { useEffect } from 'react';
import { shellWord } from '../../../server/model/shell-command.ts';
import { useFailures } from '../api/use-failures.ts';
import { type PlatformStatus, usePlatformStatus } from '../api/use-platform-status.ts';

/** Name and color of one of several instances. */
export interface Instance {
  name: string;
  /** The hue of its color, in degrees; neither the red of errors nor the green of success. */
  hue: number;
  /** Command that starts the instance again after it has stopped. */
  startCommand: string;
}

/** From cyan to pink. */
const FIRST_HUE = 180;
const HUES = 150;
const START = 'npx terrarium-emulator start';

/** The instance of this window: its name, or its address for users who cannot see its folder. */
export function useInstance(): Instance {
  return instanceOf(usePlatformStatus().data?.dataDir, location.host);
}

/** @param dataDir where its world is, if known */
export function instanceOf(dataDir: PlatformStatus['dataDir'], host: string): Instance {
  const parts = (dataDir ?? '').split(/[\\/]/).filter((part) => part !== '');
  const isNamed = parts.at(-2) === 'instances';
  // The default instance's folder is in its project.
  const name = (parts.at(-1)?.startsWith('.') ? parts.at(-2) : parts.at(-1)) ?? host.replace(/^terrarium\./, '');
  // All users of an instance see it in the same color, whether or not they see its folder.
  const sum = [...host].reduce((before, letter) => (before * 31 + (letter.codePointAt(0) ?? 0)) % HUES, 0);
  const hue = FIRST_HUE + sum;
  const isDefault = dataDir === undefined || parts.at(-1) === '.terrarium';
  // The shells of Windows quote by double quotes.
  const data = dataDir?.includes('\\') ? `"${dataDir}"` : shellWord(dataDir ?? '');
  const option = isNamed ? ` --instance ${name}` : isDefault ? '' : ` --data ${data}`;
  return { name, hue, startCommand: `${START}${option}` };
}

/** The title of the browser's tab, and its icon: both show that something fails. */
export function useTabTitle(screen: string): void {
  const { name } = useInstance();
  const failing = useFailures().filter(({ isOver }) => !isOver).length;
  useEffect(() => {
    document.title = `${failing > 0 ? `(${failing} failing) ` : ''}${screen} - ${name} - Terrarium`;
    const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
    icon?.setAttribute('href', `${import.meta.env.BASE_URL}${failing > 0 ? 'icon-failing.svg' : 'icon.svg'}`);
  }, [screen, name, failing]);
}
