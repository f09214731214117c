/** The script of the pages. They work without it: it adds suggestions while somebody types, and buttons that copy. */
import { offerCopies } from "./copy.ts";
import { tendFrames } from "./frames.ts";
import { tendReplay } from "./replay.ts";
import { offerSliders } from "./slider.ts";
import { offerSuggestions } from "./suggest.ts";

offerSuggestions();
offerCopies();
offerSliders();
tendReplay();
tendFrames();
