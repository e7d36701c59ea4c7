import { Slots } from './slots.ts';

export function sliceSlots(): Slots {
  return new Slots(16, 1000);
}
