// Light, dark, or as the system is.
import { signal } from '@preact/signals';

export type Choice = 'auto' | 'light' | 'dark';
const KEY = 'plimsoll.theme';
const system = matchMedia('(prefers-color-scheme: dark)');

function stored(): Choice {
  const value = localStorage.getItem(KEY);
  return value === 'light' || value === 'dark' ? value : 'auto';
}

export const choice = signal<Choice>(stored());
// What is drawn; graphs are drawn anew when it changes.
export const theme = signal<'light' | 'dark'>('light');

function apply(): void {
  const dark = choice.value === 'dark' || (choice.value === 'auto' && system.matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  theme.value = dark ? 'dark' : 'light';
}

export function choose(next: Choice): void {
  choice.value = next;
  if (next === 'auto') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, next);
  apply();
}

export function start(): void {
  apply();
  system.addEventListener('change', apply);
}
