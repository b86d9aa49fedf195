/* page_script.h - the script of the HTML pages */
#ifndef SALTMILL_PAGE_PAGE_SCRIPT_H
#define SALTMILL_PAGE_PAGE_SCRIPT_H

extern const char page_script[];

#endif
