import { Check, Copy as CopyIcon } from 'lucide-react';
import { useEffect, useState } from 'react';
import { IconButton } from './button.tsx';
import { announce } from './toasts.tsx';

const CONFIRMED_MS = 1500;

/** A button that copies a text and confirms it. `subject` is part of its label: `Copy address`. */
export function Copy({ text, subject, className = '' }: { text: string; subject: string; className?: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), CONFIRMED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    setCopied(await copyText(text, subject));
  };
  return (
    <IconButton
      icon={isCopied ? Check : CopyIcon}
      label={isCopied ? 'Copied' : `Copy ${subject}`}
      onPress={copy}
      className={`size-6 ${className}`}
    />
  );
}

/** Puts a text on the clipboard and announces it; false when the browser does not allow it. */
export async function copyText(text: string, subject: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    announce(`Copied ${subject}`);
    return true;
  } catch {
    announce(`The browser did not allow copying ${subject}`);
    return false;
  }
}
