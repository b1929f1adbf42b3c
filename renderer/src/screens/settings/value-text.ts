import type { SettingView } from '../../../../server/api/routes/window.ts';
import { hasAllWords } from '../../components/all-words.ts';
import { bytesText } from '../../components/amounts.ts';

/** The value of a setting as one would write it, with its amount in words behind it where that helps. */
export function valueText({ key, value }: Pick<SettingView, 'key' | 'value'>): string {
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value !== 'number') return String(value);
  if (/bytes$/i.test(key)) return `${value} (${bytesText(value)})`;
  return /[a-z]S$/.test(key) ? `${value} s` : String(value);
}

/** True if the setting has a value that is not empty. */
export function isSet({ value }: Pick<SettingView, 'value'>): boolean {
  return value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
}

/** True if all typed words occur in the setting's key, description, sources or value. */
export function isFound(setting: SettingView, typed: string): boolean {
  const { key, description, flag, env, source, origin } = setting;
  return hasAllWords(typed, key, description, flag, env, source, origin, valueText(setting));
}
