/** Short sounds for moves, merges and the end of a game; off until the visitor turns them on. */

import { memory } from "./dom.js";

const NOTES = { move: [220, 0.03], merge: [440, 0.06], over: [150, 0.4] }; // hertz, seconds
const LOUD = 0.08;

let audio = null;
let isOn = memory.get("sound", false);

export const isSoundOn = () => isOn;

export function setSound(truth) {
  isOn = truth;
  memory.set("sound", truth);
  if (isOn) play("merge");
}

/** Play a sound, if they are on. */
export function play(name) {
  if (!isOn) return;
  audio ??= new AudioContext();
  const [pitch, length] = NOTES[name];
  const tone = new OscillatorNode(audio, { frequency: pitch, type: "triangle" });
  const volume = new GainNode(audio, { gain: LOUD });
  volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + length);
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + length);
}
