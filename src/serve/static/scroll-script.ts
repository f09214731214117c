/**
 * The one script that may stand in a static view: two versions in frames beside each other are scrolled as one. It says how
 * far the page is scrolled, and goes where it is told to. The policy names its digest, so that no other script runs.
 */
import { createHash } from "node:crypto";

/** Told to be scrolled, it is silent for a moment: its own movement is no news. */
export const SCROLL_SCRIPT = `(()=>{
let silent=0;const page=document.scrollingElement||document.documentElement;
const most=()=>page.scrollHeight-innerHeight;
addEventListener("scroll",()=>{if(performance.now()>silent)parent.postMessage({scrolledTo:most()>0?page.scrollTop/most():0},"*")},{passive:true});
addEventListener("message",(event)=>{const to=event.data&&event.data.scrollTo;if(event.source!==parent||typeof to!=="number")return;silent=performance.now()+200;page.scrollTop=to*most()});
})()`;

export const SCROLL_SCRIPT_HASH = `'sha256-${createHash("sha256").update(SCROLL_SCRIPT).digest("base64")}'`;
