// Numbers and times as people read them.
const DASH = '–';

export function count(value: number | null | undefined): string {
  if (value === null || value === undefined) return DASH;
  return Math.abs(value) >= 10_000 ? Math.round(value).toLocaleString('en-US') : String(Math.round(value * 10) / 10);
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function rate(value: number | null | undefined): string {
  if (value === null || value === undefined) return DASH;
  if (value === 0) return '0';
  if (value < 10) return value.toFixed(1);
  return Math.round(value).toLocaleString('en-US');
}

export function percent(part: number, whole: number): string {
  return whole > 0 ? `${Math.round((100 * part) / whole)} %` : DASH;
}

export function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return DASH;
  if (value === 0) return '0';
  const ms = value * 1000;
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return `${value.toFixed(value < 10 ? 2 : 1)} s`;
}

export function age(value: number | null | undefined): string {
  if (value === null || value === undefined) return DASH;
  if (value < 1) return '< 1 s';
  if (value < 60) return `${Math.floor(value)} s`;
  if (value < 3600) return `${Math.floor(value / 60)} min`;
  if (value < 172_800) {
    const minutes = Math.floor((value % 3600) / 60);
    return `${Math.floor(value / 3600)} h${minutes ? ` ${minutes} min` : ''}`;
  }
  return `${Math.floor(value / 86_400)} d`;
}

export function clock(time: string | number): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? DASH : date.toLocaleTimeString('en-GB', { hour12: false });
}

export function dateTime(time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? DASH : `${date.toLocaleDateString('sv-SE')} ${clock(time)}`;
}

// "QUOTA_REBALANCED" → "quota rebalanced"
export function words(name: string | null | undefined): string {
  return name ? name.toLowerCase().replaceAll('_', ' ') : DASH;
}

export function setting(value: unknown): string {
  if (value === null || value === undefined) return DASH;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
