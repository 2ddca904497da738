// Whether whoever looks may change something. No route says so; but the settings are for operators only,
// so asking for them tells. The controller decides all the same: this only spares buttons that lead nowhere.
import { effect, signal } from '@preact/signals';
import { Problem, get, token } from './api';

export const mayOperate = signal<boolean | undefined>(undefined); // undefined: not known yet

let asked = 0;

async function ask(mine: number): Promise<void> {
  let may: boolean | undefined;
  try {
    await get('/v1/config');
    may = true;
  } catch (error) {
    // A controller without that route: the buttons are there, and a refusal says what is missing.
    const { status } = error as Problem;
    may = status === 401 || status === 403 ? false : status === 404 ? true : undefined;
  }
  if (mine !== asked) return;
  mayOperate.value = may;
  if (may === undefined) setTimeout(() => { if (mine === asked) void ask(mine); }, 5000);
}

export function start(): void {
  effect(() => {
    void token.value;
    asked += 1;
    mayOperate.value = undefined;
    void ask(asked);
  });
}
