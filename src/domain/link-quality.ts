/** Zigbee's link quality goes from 0 to 255. From here on a link is strong, … */
export const quality_strong = 100;
/** … and below this it is weak: frames get lost. */
export const quality_enough = 40;
