// One entry of the table in CPage.c: the file FILE. It has no guard, since it is included for each file.
{&FILE[sizeof "web/" - 1],
 (const unsigned char[]){
#embed FILE
 },
 sizeof(const unsigned char[]){
#embed FILE
 }},
#undef FILE
